"""PASCAL VOC annotations: labelled boxes on a picture, in pixels."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lxml import etree

from parsemark.corpora.loaders.files import read_number, read_xml
from parsemark.errors import CorpusError
from parsemark.model import Box


class VocObject(NamedTuple):
    """A labelled box."""

    label: str
    box: Box


class VocFile(NamedTuple):
    """What is annotated on one picture."""

    width: float
    height: float
    picture: str | None
    """Name of the picture's file."""
    objects: tuple[VocObject, ...]


def read_voc(path: Path) -> VocFile:
    """Read a VOC file. A box whose corners are swapped is put right; one without numbers is an error."""
    root = read_xml(path)
    objects = [
        VocObject((o.findtext("name") or "").strip().lower(), _box(o, path)) for o in root.iter("object")
    ]
    return VocFile(
        _number(root.find("size/width"), path),
        _number(root.find("size/height"), path),
        (root.findtext("filename") or "").strip() or None,
        tuple(objects),
    )


def _box(element: etree._Element, path: Path) -> Box:
    box = element.find("bndbox")
    if box is None:
        raise CorpusError(f"{path}, line {element.sourceline}: an object has no bndbox.")
    x0, y0, x1, y1 = (_number(box.find(name), path) for name in ("xmin", "ymin", "xmax", "ymax"))
    return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _number(element: etree._Element | None, path: Path) -> float:
    text = None if element is None else element.text
    number = read_number(text)
    if number is None:
        line = "" if element is None else f", line {element.sourceline}"
        raise CorpusError(f"{path}{line}: {text!r} is not a number.")
    return number
