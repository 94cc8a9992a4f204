"""Makes a corpus of stories with one of the makers."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from parsemark.corpora.check_page import check_page
from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.schema import CorpusFile
from parsemark.corpora.synthetic.language import LANGUAGES
from parsemark.corpora.synthetic.located import Rendered, locate
from parsemark.corpora.synthetic.randomness import stream
from parsemark.corpora.synthetic.story import Story
from parsemark.corpora.synthetic.tell import TELLERS, kinds_told_in, report
from parsemark.errors import MakingError, UsageError
from parsemark.extras import require
from parsemark.model import Sample
from parsemark.system import make_folder, write_bytes

MAKERS = ("typst", "html", "docx")
NEEDED_PACKAGES = {
    "typst": ("typst", "fontTools"),
    "html": ("playwright", "fontTools"),
    "docx": ("docx", "fontTools"),
}
GENERATOR = "stories 2"
"""Name and version; the version rises whenever the same seed gives other pages."""
LICENCE = "CC0-1.0"
ATTEMPTS = 6
SOURCES = "sources"
"""Folder of the documents in the makers' own formats, for parsers that read those."""
BATCH = 8
"""Documents that are set together, where starting the program costs more than a page."""

Progress = Callable[[int], None]
Render = Callable[[list[Story], Path], list[Rendered]]


@dataclass(frozen=True)
class StoryOptions:
    """What is asked of a maker."""

    maker: str
    pages: int
    seed: int = 0
    name: str = "stories"
    languages: tuple[str, ...] = ("english",)
    kinds: tuple[str, ...] = tuple(TELLERS)
    """Kinds of documents; a language takes part in those that it has words for."""
    document_pages: float = 1.5
    """About how long the reports are."""
    long: float = 0.1
    """Share of reports with a table that runs over pages."""

    def __post_init__(self) -> None:
        if self.maker not in MAKERS:
            raise UsageError(f"There is no maker {self.maker!r}; there are {', '.join(MAKERS)}.")
        if self.pages < 1:
            raise UsageError(f"A corpus needs at least one page, not {self.pages}.")
        for chosen, known, what in (
            (self.languages, LANGUAGES, "language"),
            (self.kinds, tuple(TELLERS), "kind of document"),
        ):
            unknown = [value for value in chosen if value not in known]
            if unknown or not chosen:
                raise UsageError(f"There is no {what} {unknown or 'given'}; there are {', '.join(known)}.")
        if not self._choices():
            raise UsageError("None of these languages has words for these kinds of documents.")

    def _choices(self) -> list[tuple[str, str]]:
        return [
            (language, kind)
            for language in self.languages
            for kind in kinds_told_in(language)
            if kind in self.kinds
        ]

    def story(self, index: int, attempt: int) -> Story:
        """Document `index`: languages and kinds in turn, the rest drawn."""
        language = self.languages[index % len(self.languages)]
        kinds = [kind for found, kind in self._choices() if found == language]
        if not kinds:
            language, kind = self._choices()[index % len(self._choices())]
        else:
            kind = kinds[index // len(self.languages) % len(kinds)]
        name = f"{self.name}-{index + 1:04d}"
        rng = stream(self.name, self.maker, self.seed, index, attempt)
        if kind == "report":
            return report(rng, name, language, self.document_pages, long=rng.random() < self.long)
        return TELLERS[kind](rng, name, language, self.document_pages)

    def settings(self) -> dict[str, Any]:
        """What is recorded in the corpus."""
        settings = asdict(self)
        del settings["seed"], settings["name"]
        return settings


def make_stories(options: StoryOptions, out: Path, *, progress: Progress | None = None) -> CorpusFile:
    """Make a corpus in the folder `out`, which must be new or empty.

    The same options give the same truth, byte for byte, with the same versions of program and fonts. Every
    page is held against its own PDF as `corpus check` does; a document with any disagreement is drawn again,
    and listed in the settings of the corpus.
    """
    require("makers", "Making pages", NEEDED_PACKAGES[options.maker])
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; give a new folder, or remove it first.")
    for folder in ("pdfs", "truth"):
        make_folder(out / folder)
    render: Render = import_module(f"parsemark.corpora.synthetic.makers.{options.maker}").render
    replaced: dict[str, str] = {}
    pages = index = 0
    with tempfile.TemporaryDirectory(prefix="parsemark-") as work:
        while pages < options.pages:
            documents = _batch(options, render, index, Path(work), replaced)
            for samples, rendered in documents:
                kept = samples[: options.pages - pages]
                if not kept:
                    break
                _write(out, kept)
                if rendered.source is not None:
                    (out / SOURCES).mkdir(exist_ok=True)
                    name = f"{kept[0].document}{rendered.source_suffix}"
                    write_bytes(out / SOURCES / name, rendered.source)
                pages += len(kept)
                if progress is not None:
                    progress(len(kept))
            index += BATCH
    return write_manifest(
        out,
        name=options.name,
        licence=LICENCE,
        description=f"Synthetic pages with exact truth, set with {options.maker}.",
        generator=f"parsemark {GENERATOR}",
        seed=options.seed,
        settings={**options.settings(), **({"replaced": replaced} if replaced else {})},
    )


def _batch(
    options: StoryOptions, render: Render, first: int, folder: Path, replaced: dict[str, str]
) -> list[tuple[tuple[Sample, ...], Rendered]]:
    """Some documents, each drawn again until it is faithful."""
    done: dict[int, tuple[tuple[Sample, ...], Rendered]] = {}
    reasons: dict[int, Counter[str]] = {}
    for attempt in range(ATTEMPTS):
        open_ones = [index for index in range(first, first + BATCH) if index not in done]
        if not open_ones:
            break
        stories = [options.story(index, attempt) for index in open_ones]
        for index, story, rendered in zip(open_ones, stories, render(stories, folder), strict=True):
            try:
                done[index] = _checked(locate(story, rendered, maker=options.maker)), rendered
            except MakingError as error:
                reasons.setdefault(index, Counter())[str(error)] += 1
                continue
            if attempt:
                replaced[story.name] = f"drawn {attempt + 1} times: {next(iter(reasons[index]))}"
    for index, counts in reasons.items():
        if index not in done:
            raise MakingError(f"A document could not be made in {ATTEMPTS} draws: {next(iter(counts))}")
    return [done[index] for index in sorted(done)]


def _checked(samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
    for sample in samples:
        figures = check_page(sample)
        for problem in (*figures.problems, *figures.disagreements):
            raise MakingError(problem)
        if figures.glyphs_inside != figures.glyphs:
            outside = figures.glyphs - figures.glyphs_inside
            raise MakingError(f"{sample.id}: {outside} glyphs stick out of their cells.")
    return samples


def _write(out: Path, samples: Sequence[Sample]) -> None:
    for sample in samples:
        assert sample.pdf is not None
        name = f"pdfs/{sample.document}.pdf"
        if not (out / name).exists():
            write_bytes(out / name, sample.pdf.read_bytes())
        write_page(out, replace(sample, pdf=out / name), name)
