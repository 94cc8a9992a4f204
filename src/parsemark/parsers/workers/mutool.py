# /// script
# dependencies = []
# [tool.parsemark]
# about = "MuPDF's mutool: text of the page, its blocks parted by blank lines"
# licence = "AGPL-3.0"
# homepage = "https://mupdf.com"
# engine = "mupdf"
# gives = ["text"]
# needs = ["mutool"]
# ///
"""mutool: `draw -F txt` of one page."""

import subprocess

from parsemark_worker import serve, text_output


def parse(pdf, page, options):
    done = subprocess.run(
        ["mutool", "draw", "-q", "-F", "txt", "-o", "-", pdf, str(page)], capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace").strip()[-500:] or "mutool failed")
    return text_output("text", done.stdout.decode("utf-8", "replace").replace("\f", ""))


serve(parse, programs={"mutool": ["mutool", "-v"]})
