"""The pages and calls of the annotation app."""

import asyncio
import io
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from parsemark.errors import PdfError
from parsemark.formats.model_json import page_to_json
from parsemark.model import Category
from parsemark.pdf import render_page
from parsemark.report.mathml import mathml
from parsemark.web.annotate.edit_store import OutdatedError, Work
from parsemark.web.annotate.edits import EditError
from parsemark.web.annotate.page_state import PageState
from parsemark.web.frame import (
    Address,
    BadRequestError,
    answer,
    body_of,
    build_app,
    nonce_of,
    page,
    person_name,
    printable,
)
from parsemark.web.guard import Guard

MAX_BODY_BYTES = 512 * 1024
PICTURE_DPI = 110
PERSON_COOKIE = "parsemark_person"
CATEGORIES = [str(c) for c in Category if c is not Category.ABANDON]


class AnnotateApp:
    """The app for one folder."""

    def __init__(self, work: Work, address: Address) -> None:
        self.work = work
        self.address = address

    def build(self) -> Any:
        """Return the app behind its guard."""
        guard = Guard(self.address.hosts, self.address.token, MAX_BODY_BYTES, self.work.secret)
        routes = [
            Route("/", self.overview),
            Route("/page/{sample}", self.editor),
            Route("/api/person", self.person, methods=["POST"]),
            Route("/api/page/{sample}", self.state),
            Route("/api/page/{sample}/edit", self.edit, methods=["POST"]),
            Route("/api/page/{sample}/undo", self.undo, methods=["POST"]),
            Route("/api/page/{sample}/accept", self.accept, methods=["POST"]),
            Route("/api/page/{sample}/withdraw", self.withdraw, methods=["POST"]),
            Route("/api/math", self.math, methods=["POST"]),
            Route("/picture/{sample}", self.picture),
        ]
        return build_app(routes, guard)

    async def overview(self, request: Request) -> Response:
        """Return all pages, the most uncertain ones first."""
        rows = await asyncio.to_thread(self.work.overview)
        return page(
            request,
            "annotate_list.html",
            rows=rows,
            folder=self.work.folder.name,
            person=_person(request),
            n_named=self.work.n_named,
            by_hand=[str(remark) for remark in self.work.by_hand],
            left_out=[str(remark) for remark in self.work.remarks if remark.left_out],
        )

    async def editor(self, request: Request) -> Response:
        """Return one page."""
        name = self._sample(request)
        names = [row["sample"] for row in await asyncio.to_thread(self.work.overview)]
        here = names.index(name)
        sample = self.work.samples[name]
        return page(
            request,
            "annotate.html",
            sample=name,
            document=sample.document,
            number=sample.page_number,
            following=names[(here + 1) % len(names)],
            categories=CATEGORIES,
            person=_person(request),
        )

    async def person(self, request: Request) -> Response:
        """Set who is at this browser."""
        name = person_name((await body_of(request)).get("name"))
        response = answer({"ok": True})
        response.set_cookie(PERSON_COOKIE, quote(name), httponly=True, samesite="lax", max_age=31_536_000)
        return response

    async def state(self, request: Request) -> Response:
        """Return the page as it is now."""
        return answer(await asyncio.to_thread(self._page_data, self._sample(request)))

    async def edit(self, request: Request) -> Response:
        """Return one change, committed and written before this returns."""
        name, data = self._sample(request), await body_of(request)
        nonce, revision, edit = nonce_of(data), _revision(data), data.get("edit")
        if not isinstance(edit, dict):
            raise BadRequestError("The edit is incomplete.")
        return await self._saved(name, lambda: self.work.edit(name, edit, _person(request), nonce, revision))

    async def undo(self, request: Request) -> Response:
        """Take the last change back, where the browser shows it."""
        name, revision = self._sample(request), _revision(await body_of(request))
        return await self._saved(name, lambda: self.work.undo(name, revision))

    async def accept(self, request: Request) -> Response:
        """Accept the page as right."""
        name, data, person = self._sample(request), await body_of(request), _person(request)
        if not person:
            raise BadRequestError("Enter your name first.", 401)
        revision = _revision(data)
        return await self._saved(name, lambda: self.work.accept(name, person, revision))

    async def withdraw(self, request: Request) -> Response:
        """Take back that the page is right."""
        name = self._sample(request)
        return await self._saved(name, lambda: self.work.withdraw(name))

    async def _saved(self, name: str, change: Callable[[], Future[Any]]) -> Response:
        """Return the page after a change that is on the disk; `saved` is false where there was nothing to
        change.
        """
        try:
            done = await asyncio.wrap_future(change())
        except EditError as error:
            raise BadRequestError(str(error), 422) from error
        except OutdatedError as error:
            why = "The page was changed elsewhere, perhaps in another tab. It is shown as it is now."
            raise BadRequestError(why, 409) from error
        return answer({"saved": done is not False, **await asyncio.to_thread(self._page_data, name)})

    async def math(self, request: Request) -> Response:
        """Return a formula as MathML."""
        latex = (await body_of(request)).get("latex")
        found = await asyncio.to_thread(mathml, latex) if isinstance(latex, str) else None
        return answer({"mathml": found})

    async def picture(self, request: Request) -> Response:
        """Return the picture of a page."""
        sample = self.work.samples[self._sample(request)]
        assert sample.pdf is not None
        try:
            data = await asyncio.to_thread(_picture, sample.pdf, sample.page_number)
        except (PdfError, OSError) as error:
            return PlainTextResponse(f"The page cannot be drawn: {error}", 404)
        return Response(data, media_type="image/webp", headers={"cache-control": "private, max-age=600"})

    def _sample(self, request: Request) -> str:
        name = str(request.path_params["sample"])
        if name not in self.work.samples:
            raise BadRequestError("This page does not exist.", 404)
        return name

    def _page_data(self, name: str) -> dict[str, Any]:
        return {**shown(self.work.state(name)), "offers": self.work.offers(name)}


def shown(state: PageState) -> dict[str, Any]:
    """Return the editor's data of a page."""
    check = state.check
    return {
        "page": page_to_json(state.page),
        "revision": state.revision,
        "uncertain": {
            name: [[row, col, round(share, 2)] for row, col, share in cells]
            for name, cells in state.doubts.items()
        },
        "support": dict(state.start.support),
        "can_undo": state.n_edits > 0,
        "accepted": list(dict(state.accepted)),
        "changed": state.is_changed,
        "has_truth": state.has_truth,
        "differences": None if check is None else [asdict(difference) for difference in check],
    }


def _revision(data: Mapping[str, Any]) -> int:
    """Return the revision of the page that the person saw."""
    if type(data.get("revision")) is not int:
        raise BadRequestError("The request has no change.")
    return int(data["revision"])


def _person(request: Request) -> str:
    return printable(unquote(request.cookies.get(PERSON_COOKIE, "")))[:60]


@lru_cache(maxsize=64)
def _picture(pdf: Path, number: int) -> bytes:
    buffer = io.BytesIO()
    render_page(pdf, number, PICTURE_DPI).save(buffer, format="WEBP", quality=75, method=2)
    return buffer.getvalue()
