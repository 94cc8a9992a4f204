"""What a detector that runs elsewhere needs of a corpus: pictures, words with boxes, a list of images."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from parsemark.corpora.render import page_image, page_words
from parsemark.errors import CorpusError
from parsemark.model import Sample
from parsemark.system import make_folder

DPI = 72


def write_detector_input(samples: Iterable[Sample], out: Path, dpi: int = DPI) -> int:
    """Write `images/STEM-pPAGE.png`, `words/STEM-pPAGE.json` and `images.json` (COCO without annotations).

    At 72 dpi a pixel is a point. A words file is a list of {"text", "bbox": [x0, y0, x1, y1]} in pixels: the
    token grid that VGT is given. Returns the number of pages.
    """
    images = []
    for number, sample in enumerate(samples, start=1):
        stem = sample.pdf.stem if sample.pdf is not None else sample.id
        name = f"{stem}-p{sample.page_number}"
        if Path(name).name != name:
            raise CorpusError(f"Sample {sample.id} cannot name a file: {name!r}.")
        picture = page_image(sample, dpi)
        scale = dpi / 72
        words = [
            {"text": w.text, "bbox": [round(v * scale, 2) for v in w.box.as_tuple()]}
            for w in page_words(sample)
        ]
        for folder in ("images", "words"):
            make_folder(out / folder)
        picture.save(out / "images" / f"{name}.png")
        (out / "words" / f"{name}.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
        images.append(
            {"id": number, "file_name": f"{name}.png", "width": picture.width, "height": picture.height}
        )
    content = {"images": images, "categories": [{"id": 1, "name": "table"}], "annotations": []}
    (out / "images.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    return len(images)
