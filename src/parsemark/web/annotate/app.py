"""The pages and calls of the annotation app."""

from __future__ import annotations

import asyncio
import io
import re
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from parsemark.errors import PdfError
from parsemark.formats.model_json import page_to_json
from parsemark.model import Category
from parsemark.pdf import render_page
from parsemark.report.mathml import mathml
from parsemark.web.annotate.edits import EditError
from parsemark.web.annotate.work import OutdatedError, PageState, Work
from parsemark.web.frame import Address, BadRequestError, answer, body_of, build_app, page
from parsemark.web.guard import Guard

MAX_BODY_BYTES = 512 * 1024
PICTURE_DPI = 110
PERSON_COOKIE = "parsemark_person"
_NONCE = re.compile(r"[\w-]{8,64}")
CATEGORIES = [str(c) for c in Category if c is not Category.ABANDON]


class AnnotateApp:
    """The app for one folder."""

    def __init__(self, work: Work, address: Address) -> None:
        self.work = work
        self.address = address

    def build(self) -> Any:
        """The app behind its guard."""
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
        """All pages, the most uncertain ones first."""
        rows = await asyncio.to_thread(self.work.overview)
        return page(
            request,
            "annotate_list.html",
            rows=rows,
            folder=self.work.folder.name,
            person=_person(request),
            n_named=self.work.n_named,
            left_out=[str(remark) for remark in self.work.remarks if remark.left_out],
        )

    async def editor(self, request: Request) -> Response:
        """One page."""
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
        """Who is at this browser."""
        name = _clean((await body_of(request)).get("name"))
        response = answer({"ok": True})
        response.set_cookie(PERSON_COOKIE, quote(name), httponly=True, samesite="lax", max_age=31_536_000)
        return response

    async def state(self, request: Request) -> Response:
        """The page as it is now."""
        return answer(await asyncio.to_thread(self._page_data, self._sample(request)))

    async def edit(self, request: Request) -> Response:
        """One change, committed and written before this returns."""
        name, data = self._sample(request), await body_of(request)
        nonce, revision, edit = data.get("nonce"), data.get("revision"), data.get("edit")
        if not isinstance(nonce, str) or _NONCE.fullmatch(nonce) is None or not isinstance(edit, dict):
            raise BadRequestError("The edit is incomplete.")
        if type(revision) is not int:
            raise BadRequestError("The edit does not say what it changes.")
        try:
            await asyncio.wrap_future(self.work.edit(name, edit, _person(request), nonce, revision))
        except EditError as error:
            raise BadRequestError(str(error), 422) from error
        except OutdatedError as error:
            raise _outdated() from error
        return answer({"saved": True, **await asyncio.to_thread(self._page_data, name)})

    async def undo(self, request: Request) -> Response:
        """Take the last change back, where the browser shows it."""
        name, revision = self._sample(request), (await body_of(request)).get("revision")
        if type(revision) is not int:
            raise BadRequestError("The page is not known.")
        try:
            done = await asyncio.wrap_future(self.work.undo(name, revision))
        except OutdatedError as error:
            raise _outdated() from error
        return answer({"saved": done, **await asyncio.to_thread(self._page_data, name)})

    async def accept(self, request: Request) -> Response:
        """Say that the page is right."""
        name, data = self._sample(request), await body_of(request)
        person, revision = _person(request), data.get("revision")
        if not person:
            raise BadRequestError("Say first who you are.", 401)
        if type(revision) is not int:
            raise BadRequestError("The page is not known.")
        try:
            await asyncio.wrap_future(self.work.accept(name, person, revision))
        except OutdatedError as error:
            raise _outdated() from error
        return answer({"saved": True, **await asyncio.to_thread(self._page_data, name)})

    async def withdraw(self, request: Request) -> Response:
        """Take back that the page is right."""
        name = self._sample(request)
        await asyncio.wrap_future(self.work.withdraw(name))
        return answer({"saved": True, **await asyncio.to_thread(self._page_data, name)})

    async def math(self, request: Request) -> Response:
        """A formula as MathML."""
        latex = (await body_of(request)).get("latex")
        found = await asyncio.to_thread(mathml, latex) if isinstance(latex, str) else None
        return answer({"mathml": found})

    async def picture(self, request: Request) -> Response:
        """The picture of a page."""
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
            raise BadRequestError("There is no such page.", 404)
        return name

    def _page_data(self, name: str) -> dict[str, Any]:
        return {**shown(self.work.state(name)), "offers": self.work.offers(name)}


def shown(state: PageState) -> dict[str, Any]:
    """What the editor gets of a page."""
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
        "differences": None
        if check is None
        else [{"element": d.element, "what": d.what, "before": d.before, "after": d.after} for d in check],
    }


def _outdated() -> BadRequestError:
    return BadRequestError(
        "The page was changed elsewhere, perhaps in another tab. It is shown as it is now.", 409
    )


def _person(request: Request) -> str:
    from urllib.parse import unquote

    return _printable(unquote(request.cookies.get(PERSON_COOKIE, "")))[:60]


def _printable(text: str) -> str:
    return " ".join(
        "".join(c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c)[0] != "C").split()
    )


def _clean(name: object) -> str:
    if not isinstance(name, str) or not 1 <= len(_printable(name)) <= 60:
        raise BadRequestError("A name has 1 to 60 characters.")
    return _printable(name)


@lru_cache(maxsize=64)
def _picture(pdf: Path, number: int) -> bytes:
    buffer = io.BytesIO()
    render_page(pdf, number, PICTURE_DPI).convert("RGB").save(buffer, format="WEBP", quality=75, method=2)
    return buffer.getvalue()
