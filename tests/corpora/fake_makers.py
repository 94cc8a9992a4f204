"""Makers and a check as another package would bring them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parsemark.corpora.check import CheckReport, CorpusCheck
from parsemark.corpora.making import MadeCorpus, Maker, MakingJob, option, write_manifest, write_page
from parsemark.model import Page, Sample


@dataclass(frozen=True, kw_only=True)
class Blank(Maker):
    """Empty pages."""

    generator: ClassVar[str] = "acme blank 1"

    pages: int = option("Number of pages.")
    seed: int = option("Moves the page size.", 0)
    name: str = option("Name of the corpus.", "blank")
    papers: tuple[str, ...] = option("Paper sizes, in turn.", ("a4", "letter"))

    def n_steps(self, job: MakingJob) -> int:
        return self.pages

    def make(self, job: MakingJob) -> MadeCorpus:
        for number in range(self.pages):
            key = f"{self.name}-{number + 1}"
            truth = Page(key, 500 + self.seed % 97, 700, attributes={"paper": self.papers[number % 2]})
            write_page(job.out, Sample(key, key, 1, truth), None)
            job.progress(1)
        about = {"generator": self.generator, "seed": self.seed, "settings": self.settings()}
        return MadeCorpus(write_manifest(job.out, name=self.name, **about), ("all of them are blank",))


@dataclass(frozen=True, kw_only=True)
class Copy(Maker):
    """Copies of pages."""

    generator: ClassVar[str] = "acme copy 1"
    needs_corpus: ClassVar[bool] = True

    def make(self, job: MakingJob) -> MadeCorpus:
        assert job.corpus is not None
        for sample in job.corpus.samples():
            write_page(job.out, sample, None)
        raise RuntimeError("the disk is gone")


class NoTitles(CorpusCheck):
    """Counts pages without a title."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def add(self, sample: Sample) -> None:
        if sample.truth is not None and not any(e.category == "title" for e in sample.truth.elements):
            self.ids.append(sample.id)

    def finish(self, report: CheckReport) -> None:
        report.harmless.add("no title")
        for key in self.ids:
            report.disagree("no title", f"{key} has no title.")
        report.measured.append(f"pages without a title: {len(self.ids)}")


class Broken(NoTitles):
    """Fails."""

    def finish(self, report: CheckReport) -> None:
        raise KeyError("title")
