"""Workers as Ray actors: the same plan and the same pool, on the machines of a cluster.

An actor holds one `PageWorker`, so a model is loaded once per actor. Only the driver writes to the run
directory; the cluster needs no shared disk, since pages travel as PDF bytes and outputs as answers. If a
node dies, its pages are given to new actors elsewhere: that is no failure of the parser.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from parsemark.engine.cluster import MAX_LOSSES, RayCluster
from parsemark.engine.events import Events
from parsemark.engine.parsing.page_worker import (
    PageLimits,
    PageOutcome,
    PageWorker,
    ParserUnusableError,
    StoppedError,
    install_usable,
)
from parsemark.engine.parsing.plan import PlannedPage
from parsemark.errors import ParserError
from parsemark.model import Status
from parsemark.parsers import Hello, Parser, get_parser
from parsemark.parsers.worker_limits import Watch
from parsemark.system.scratch import ScratchFolder

_CLOSE_S = 2.0


class RayWorkers(RayCluster):
    """Actors on a Ray cluster."""

    def __init__(self, limits: PageLimits, address: str | None, hidden: Collection[Path] = ()) -> None:
        super().__init__(address)
        self._limits = limits
        self._hidden = hidden

    def install(self, parser: Parser, events: Events) -> None:
        """Do nothing: each actor builds the environment on its own node, once per node."""

    def start(self, parser: Parser) -> RayWorker:
        """Return a worker whose actor is started with its first page."""
        return RayWorker(self.ray, self.actor(_Actor), parser.spec, self._limits, self._hidden)


class RayWorker:
    """The driver's side of one actor."""

    def __init__(self, ray: Any, actor: Any, spec: str, limits: PageLimits, hidden: Collection[Path]) -> None:
        self.hello: Hello | None = None
        self._ray = ray
        self._new_actor: Callable[[], Any] = lambda: actor.remote(spec, limits, hidden)
        self._handle: Any = None
        self._sent = ""
        self._stopped = False

    def parse(self, pages: Sequence[PlannedPage]) -> list[PageOutcome]:
        """Have pages of one document parsed, on another node if this one dies."""
        lost = (self._ray.exceptions.RayActorError, self._ray.exceptions.ObjectLostError)
        for _ in range(MAX_LOSSES):
            try:
                return self._ask(pages)
            except lost as error:
                last = error
            self.close()
            if self._stopped:
                raise StoppedError
        why = f"{MAX_LOSSES} Ray actors were lost on this page: {last}"
        return [PageOutcome(Status.PARSER_FAILED, attempts=MAX_LOSSES, error=why[:2000])] * len(pages)

    def stop(self) -> None:
        """Give up; the thread that waits for a page is freed."""
        self._stopped = True
        self.close()

    def close(self) -> None:
        """End the actor."""
        handle, self._handle, self._sent = self._handle, None, ""
        if handle is not None:
            with contextlib.suppress(self._ray.exceptions.RayError):  # lost already, or busy with a page
                self._ray.get(handle.close.remote(), timeout=_CLOSE_S)
            self._ray.kill(handle)

    def _ask(self, pages: Sequence[PlannedPage]) -> list[PageOutcome]:
        if self._stopped:
            raise StoppedError
        if self._handle is None:
            self._handle = self._new_actor()
        data = None if self._sent == pages[0].pdf_sha256 else pages[0].pdf.read_bytes()
        self._sent = pages[0].pdf_sha256
        outcomes: list[PageOutcome]
        outcomes, self.hello = self._ray.get(self._handle.parse.remote(pages, data))
        return outcomes


class _Actor:
    """The cluster's side: one worker process, and the PDF that it reads."""

    def __init__(self, spec: str, limits: PageLimits, hidden: Collection[Path]) -> None:
        self._spec = spec
        self._limits = limits
        self._hidden = hidden  # as paths of the driver: nodes may share its files
        self._watch = Watch()
        self._watch.__enter__()
        self._folder = ScratchFolder("parsemark-ray-")
        self._pdf = self._folder.path / "document-0.pdf"
        self._n_pdfs = 0
        self._worker: PageWorker | None = None

    def parse(
        self, pages: Sequence[PlannedPage], pdf: bytes | None
    ) -> tuple[list[PageOutcome], Hello | None]:
        """Parse pages of `pdf`, or of the PDF of the last call where that is None."""
        if self._worker is None:
            self._worker = self._prepare()
        if pdf is not None:
            # Keep a PDF in place of the last one, under a name of its own: workers know files by name.
            self._n_pdfs += 1
            self._pdf.unlink(missing_ok=True)
            self._pdf = self._folder.path / f"document-{self._n_pdfs}.pdf"
            self._pdf.write_bytes(pdf)
        return self._worker.parse([replace(page, pdf=self._pdf) for page in pages]), self._worker.hello

    def close(self) -> None:
        """End the worker and leave nothing behind; an actor that is killed before leaves that to the next."""
        if self._worker is not None:
            self._worker.close()
        self._folder.close()

    def _prepare(self) -> PageWorker:
        try:
            parser = get_parser(self._spec)
            install_usable(parser)
        except ParserError as error:
            raise ParserUnusableError(str(error)) from error
        return PageWorker(parser, self._limits, self._watch, self._hidden)
