"""A report as one file, to attach to a mail or to keep with a CI job: it opens from disk without a server.

The file holds every page of the report as an inert template, its data and pictures as text, and one script
that shows the page which the address names. Its Content-Security-Policy lists the hash of each script and
stylesheet, so nothing that a parser wrote can run. Of the pages of the run the worst and those that differ
most are kept, as far as the size allows.
"""

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import zip_longest
from pathlib import Path

from PIL import Image

from parsemark.errors import UsageError
from parsemark.plain_words import counted
from parsemark.report.build import build_site
from parsemark.report.chunks import decode, encode
from parsemark.report.names import page_file
from parsemark.report.site import STYLESHEETS, ReportOptions
from parsemark.report.source import RunSource, page_values
from parsemark.store import Run
from parsemark.system.files import make_folder, write_text
from parsemark.system.scratch import ScratchFolder
from parsemark.verdicts.scored_run import readable_protocols

MAX_MB = 20.0
PICTURE = (1000, 1000)  # pixels that a picture of a page has to fit into
QUALITY = 55
_SCRIPT = re.compile(r'<script src="assets/([\w./-]+)"></script>\s*')
_BODY = re.compile(r'<body class="([^"]*)" data-charts="([^"]*)">(.*)</body>', re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_OF_PAGES = ("data/pages/", "data/raw/", "data/older/pages/")
_FRAME = 10_000  # bytes of the head, with the hashes of scripts
_PAYLOAD = re.compile(r'"([A-Za-z0-9+/=]*)"\);\s*$')


def build_single_file(
    run_dir: Path, out: Path, *, options: ReportOptions | None = None, max_mb: float = MAX_MB
) -> Path:
    """Write the report of a run as one HTML file and return its path.

    Raises:
        UsageError: `out` is a folder, or the report does not fit without any page.
    """
    if out.is_dir():
        raise UsageError(f"{out} is a folder. Give a file name with --out.")
    make_folder(out.parent)
    with ScratchFolder(f".{out.name}-", out.parent) as scratch:
        site = scratch / "site"
        build_site(run_dir, site, options)
        run = Run.open(run_dir)
        sources = [RunSource(run, spec) for spec in readable_protocols(run)[0]] or [RunSource(run)]
        write_text(out, _Bundle(site, int(max_mb * 1e6)).text(list(_by_interest(sources))))
    return out


def _by_interest(sources: Iterable[RunSource]) -> Iterator[int]:
    """Yield the numbers of all pages: by turns the leader's worst, and where the runner-up differs most."""
    orders: list[list[int]] = []
    n_pages = 0
    for source in sources:
        n_pages = len(source.samples)
        best = source.summary.ordered()[:2]
        sign = 1 if source.summary.info(source.summary.primary).higher_is_better else -1
        values = [page_values(source, name) for name in best]
        if values:
            first = values[0]
            worst = {k: sign * value for k, value in enumerate(first) if value is not None}
            orders.append(sorted(worst, key=worst.__getitem__))
        if len(values) == 2:
            pairs = enumerate(zip(*values, strict=True))
            gaps = {k: -abs(a - b) for k, (a, b) in pairs if a is not None and b is not None}
            orders.append(sorted(gaps, key=gaps.__getitem__))
    taken = dict.fromkeys(k for turn in zip_longest(*orders) for k in turn if k is not None)
    yield from taken
    yield from (k for k in range(n_pages) if k not in taken)


class _Bundle:
    """The parts of a report's folder, and how much room is left."""

    def __init__(self, site: Path, limit: int) -> None:
        self.site, self.limit, self.size = site, limit, 0
        self.parts: list[str] = []
        self.scripts: dict[str, str] = {}

    def text(self, order: list[int]) -> str:
        """Return the file: everything that is not of one page, then pages in order until the room is used."""
        style = "\n".join((self.site / "assets" / sheet).read_text("utf-8") for sheet in STYLESHEETS)
        boot = (self.site / "assets" / "js" / "single_file.js").read_text("utf-8")
        for path in sorted(self.site.glob("*.html")):
            if not path.name.startswith("document-"):
                self._add(self._template(path))
        for path in sorted((self.site / "data").rglob("*.js")):
            name = path.relative_to(self.site).with_suffix("").as_posix()
            if name != "data/pages" and not name.startswith(_OF_PAGES):
                self._add(self._data(path))
        for path in sorted((self.site / "tables").glob("*")):
            self._add(_file(f"tables/{path.name}", base64.b64encode(path.read_bytes()).decode()))
        pages = decode((self.site / "data" / "pages.js").read_text("ascii"))
        listed = encode(json.dumps(pages | {"kept": order}))  # the most that the list of pages can take
        self.size += _length(listed, style, boot, *self.scripts.values()) + _FRAME
        if self.size > self.limit:
            raise UsageError(
                f"The report takes {self.size / 1e6:.1f} MB without any page. Allow more with --max-mb, or "
                "write the report as a folder."
            )
        kept = sorted(number for number in order if self._add_page(number))
        pages["kept"] = kept
        self.parts.append(_file("data/pages", encode(json.dumps(pages))))
        self.parts += [_file(f"assets/{name}", text) for name, text in self.scripts.items()]
        n_pages = len(pages["id"])
        note = f"This file holds {len(kept):,} of {counted(n_pages, 'page')}"
        if len(kept) < n_pages:
            note += ": the worst ones, and those on which the two best parsers differ most"
        hashes = " ".join(map(_hash, [boot, *self.scripts.values()]))
        allowed = f"script-src {hashes}; style-src {_hash(style)}; img-src data:"
        csp = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(csp)}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
            f"<title>parsemark</title>\n<style>{style}</style>\n{''.join(self.parts)}</head>\n"
            f'<body><p class="file-note" hidden>{escape(note)}.</p>'
            f"<noscript>This report needs JavaScript.</noscript><script>{boot}</script></body>\n</html>\n"
        )

    def _add(self, *parts: str) -> None:
        self.parts += parts
        self.size += _length(*parts)

    def _add_page(self, number: int) -> bool:
        """Add the data and pictures of a page if they fit; False if they do not."""
        name = page_file(number)
        parts = [
            self._data(self.site / "data" / f"{folder}{name}.js") for folder in ("pages/", "older/pages/")
        ]
        for folder, size in (("images", PICTURE), ("thumbnails", None)):
            path = self.site / folder / f"{name}.jpg"
            if path.is_file():
                parts.append(_file(f"{folder}/{name}.jpg", base64.b64encode(_scaled(path, size)).decode()))
        parts += map(self._template, sorted(self.site.glob(f"document-{name.replace('/', '-')}-*.html")))
        if self.size + _length(*parts) > self.limit:
            return False
        self._add(*parts)
        return True

    def _data(self, path: Path) -> str:
        if not path.is_file():
            return ""
        payload = _PAYLOAD.search(path.read_text("ascii"))
        assert payload is not None, "every data file ends with its payload"
        return _file(path.relative_to(self.site).with_suffix("").as_posix(), payload[1])

    def _template(self, path: Path) -> str:
        """Return a page as an inert template; remember the scripts that it needs."""
        text = path.read_text("utf-8")
        body, title = _BODY.search(text), _TITLE.search(text)
        assert body is not None and title is not None, "every page of the report has a body and a title"
        names = _SCRIPT.findall(body[3])
        for name in ["js/theme.js", *names]:
            self.scripts.setdefault(name, (self.site / "assets" / name).read_text("utf-8"))
        # Escaped, as they stand in the page.
        values = {"page": path.stem, "title": title[1], "class": body[1], "charts": body[2]}
        values["scripts"] = " ".join(names)
        attributes = "".join(f' data-{key}="{value}"' for key, value in values.items())
        return f"<template{attributes}>{_SCRIPT.sub('', body[3])}</template>\n"


def _file(name: str, text: str) -> str:
    assert "</script" not in text.lower(), "only our scripts and base64 are held"
    return f'<script type="text/plain" data-file="{name}">{text}</script>\n'


def _length(*texts: str) -> int:
    return sum(len(text.encode()) for text in texts)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _scaled(path: Path, size: tuple[int, int] | None) -> bytes:
    """Return a picture as a smaller JPEG."""
    if size is None:
        return path.read_bytes()
    stream = io.BytesIO()
    with Image.open(path) as picture:
        picture.thumbnail(size)
        picture.convert("RGB").save(stream, "JPEG", quality=QUALITY, optimize=True)
    return stream.getvalue()
