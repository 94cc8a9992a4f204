# /// script
# dependencies = ["pypdfium2==5.14.0"]
# [tool.parsemark]
# about = "LibreOffice's PDF import (of Draw and Writer): text boxes, joined to lines of text"
# licence = "MPL-2.0"
# homepage = "https://www.libreoffice.org"
# gives = ["text"]
# needs = ["libreoffice", "namespaces"]
# ///
"""LibreOffice: the single page as flat ODT, its text boxes in the order in which they were drawn."""

import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from parsemark_pages import single_page
from parsemark_worker import serve, text_output

ODF = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
FRAME, ORDER = f"{ODF % 'drawing'}frame", f"{ODF % 'drawing'}z-index"
TOP, HEIGHT = f"{ODF % 'svg-compatible'}y", f"{ODF % 'svg-compatible'}height"
PARAGRAPH = f"{ODF % 'text'}p"
OWN = tempfile.TemporaryDirectory()


def parse(pdf, page, options):
    with tempfile.TemporaryDirectory() as folder:
        (source := Path(folder, "page.pdf")).write_bytes(single_page(pdf, page))
        made = source.with_suffix(".fodt")
        for _ in range(2):  # with a new profile it ends, to be started again
            done = convert(source, Path(folder))
            if made.is_file():
                return text_output("text", "\n".join(lines(made.read_bytes())))
        printed = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        raise RuntimeError(printed[-500:] or f"LibreOffice ended with exit code {done.returncode}")


def convert(source, folder):
    """Run the program behind `soffice`, which itself needs a socket in /tmp; this one can have another."""
    own = Path(OWN.name)
    places = [f"-env:UserInstallation={(own / 'profile').as_uri()}", f"-env:OSL_SOCKET_PATH={own}"]
    flags = ["--headless", "--norestore", "--infilter=writer_pdf_import", "--convert-to", "fodt"]
    launcher = Path(shutil.which("soffice")).resolve()
    behind = launcher.with_name("soffice.bin")
    command = [behind if behind.is_file() else launcher, *places, *flags, "--outdir", folder, source]
    return subprocess.run(command, capture_output=True, check=False)


def lines(odt):
    """The texts of boxes; those that follow each other at one height are a line."""
    frames = sorted(ElementTree.fromstring(odt).iter(FRAME), key=lambda frame: int(frame.get(ORDER, "0")))
    found, last = [], None
    for frame in frames:
        texts = ["".join(paragraph.itertext()).strip() for paragraph in frame.iter(PARAGRAPH)]
        middle, height = inches(frame, TOP) + inches(frame, HEIGHT) / 2, inches(frame, HEIGHT)
        if last is not None and abs(middle - last) < height / 2:
            found[-1] += f" {' '.join(texts)}"
        else:
            found.append("\n".join(texts))
        last = middle
    return found


def inches(frame, name):
    return float(frame.get(name, "0in").removesuffix("in"))


serve(parse, programs={"libreoffice": ["soffice", "--version"]})
