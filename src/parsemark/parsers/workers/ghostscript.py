# /// script
# dependencies = []
# [tool.parsemark]
# about = "Ghostscript's txtwrite: text placed by spaces as on the page"
# licence = "AGPL-3.0"
# homepage = "https://www.ghostscript.com"
# gives = ["text"]
# needs = ["ghostscript"]
# ///
"""ghostscript: the device `txtwrite`, with access to no file but the given one."""

import subprocess

from parsemark_worker import serve, text_output


def parse(pdf, page, options):
    pages = [f"-dFirstPage={page}", f"-dLastPage={page}"]
    done = subprocess.run(
        ["gs", "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-sDEVICE=txtwrite", *pages, "-o", "-", pdf],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace").strip()[-500:] or "gs failed")
    return text_output("text", done.stdout.decode("utf-8", "replace").replace("\f", "").replace("\r\n", "\n"))


serve(parse, programs={"ghostscript": ["gs", "--version"]})
