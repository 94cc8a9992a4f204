"""The pages and calls of the rating app."""

import asyncio
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from parsemark.errors import FormatError
from parsemark.formats import read_tables
from parsemark.formats.model_json import table_to_json
from parsemark.report.mathml import mathml
from parsemark.study.ratings import PairToRate, Tasks
from parsemark.web.frame import (
    Address,
    BadRequestError,
    answer,
    body_of,
    build_app,
    nonce_of,
    page,
    person_name,
)
from parsemark.web.guard import Guard
from parsemark.web.rate.ratings import NameTakenError, Rater, RatingPlace, RatingStore, export, standing

MAX_BODY_BYTES = 64 * 1024
MAX_COMMENT = 4000
_MOST_CELLS = 20_000


def ratings_path(file: Path) -> Path:
    """Return where the ratings of a file of pairs are kept."""
    return file.with_name(f"{file.name}.ratings.sqlite")


class RateApp:
    """The app for one file of pairs."""

    def __init__(self, store: RatingStore, address: Address) -> None:
        self.store = store
        self.address = address
        self.pairs = {pair.id: pair for pair in store.tasks.pairs}

    def build(self) -> Any:
        """Return the app behind its guard."""
        guard = Guard(self.address.hosts, self.address.token, MAX_BODY_BYTES, self.store.secret)
        key = self.store.organiser_key
        routes = [
            Route("/", self.home),
            Route("/join/{code}", self.join),
            Route("/api/join/{code}", self.change, methods=["POST"]),
            Route("/api/enter", self.enter, methods=["POST"]),
            Route("/api/item", self.item),
            Route("/api/answer", self.answer, methods=["POST"]),
            Route("/api/mark", self.mark, methods=["POST"]),
            Route("/picture/{place:int}", self.picture),
            Route(f"/organiser/{key}", self.organiser),
            Route(f"/organiser/{key}/ratings.json", self.download),
        ]
        return build_app(routes, guard)

    async def home(self, request: Request) -> Response:
        """Return the rating page, or the question for a name."""
        rater = self.store.rater_of(request.state.browser)
        if rater is None:
            return page(request, "rate_enter.html", n_pairs=len(self.pairs), kind=self.store.tasks.kind)
        return page(
            request,
            "rate.html",
            rater=rater,
            join=f"/join/{rater.code}",
            kind=self.store.tasks.kind,
            question=self.store.tasks.question,
        )

    async def join(self, request: Request) -> Response:
        """Return a rater's own link, for another browser; who rates here already is asked first."""
        here = self.store.rater_of(request.state.browser)
        there = next((r for r in self.store.raters() if r.code == request.path_params["code"]), None)
        if here is not None and there is not None and here.id != there.id:
            return page(request, "rate_join.html", here=here, there=there)
        return await self.change(request)

    async def change(self, request: Request) -> Response:
        """Continue as somebody else, as this browser's person has said."""
        entered = self.store.enter_by_code(request.path_params["code"], request.state.browser)
        ok = await asyncio.wrap_future(entered)
        if not ok:
            return PlainTextResponse("This link is not valid.", 404)
        return answer({"ok": True}) if request.method == "POST" else RedirectResponse("/", 303)

    async def enter(self, request: Request) -> Response:
        """Begin under a name."""
        name = person_name((await body_of(request)).get("name"))
        if self.store.rater_of(request.state.browser) is not None:
            return answer({"ok": True})
        try:
            await asyncio.wrap_future(self.store.enter(name, request.state.browser))
        except NameTakenError as error:
            raise BadRequestError(
                "This name is already in use. If it is yours, open your personal link; otherwise choose "
                "another name.",
                409,
            ) from error
        return answer({"ok": True})

    async def item(self, request: Request) -> Response:
        """Return the next pair, or the one at a place that was rated before."""
        rater = self._rater(request)
        places = self.store.places(rater.id)
        asked = request.query_params.get("place", "")
        is_number = asked.isascii() and asked.isdigit() and len(asked) < 9
        return answer(self._item(places, int(asked) if is_number else None))

    def _item(self, places: list[RatingPlace], asked: int | None) -> dict[str, Any]:
        n_done = sum(p.score is not None for p in places)
        progress = {"done": n_done, "all": len(places)}
        waiting = next((p.place for p in places if p.score is None), None)
        number = asked if asked is not None and asked < len(places) else waiting
        if number is None:
            return {"progress": progress, "item": None, "last": len(places) - 1}
        if waiting is not None and number > waiting:
            number = waiting  # no looking ahead
        place = places[number]
        seen = {"place": place.place, "score": place.score, "comment": place.comment, "marked": place.marked}
        item = seen | _pair_data(self.pairs[place.pair], self.store.tasks)
        return {"progress": progress, "last": number - 1 if number > 0 else None, "item": item}

    async def answer(self, request: Request) -> Response:
        """Keep a score, or take it back. Committed before this returns."""
        rater = self._rater(request)
        data = await body_of(request)
        place = self._place(rater, data)
        score = data.get("score")
        if score is not None and (
            not isinstance(score, int | float) or isinstance(score, bool) or not 0 <= score <= 10
        ):
            raise BadRequestError("A score must be a number from 0 to 10.")
        comment = data.get("comment", "")
        if not isinstance(comment, str) or len(comment) > MAX_COMMENT:
            raise BadRequestError(f"A comment has at most {MAX_COMMENT:,} characters.")
        nonce, given = nonce_of(data), data.get("seconds")
        seconds = float(given) if isinstance(given, int | float) and math.isfinite(given) else None
        await asyncio.wrap_future(self.store.answer(rater.id, place, score, comment.strip(), seconds, nonce))
        asked = place if score is None else None
        return answer({"saved": True, **self._item(self.store.places(rater.id), asked)})

    async def mark(self, request: Request) -> Response:
        """Keep that differences are shown; the page shows them after this."""
        rater = self._rater(request)
        place = self._place(rater, await body_of(request))
        await asyncio.wrap_future(self.store.mark(rater.id, place))
        return answer({"saved": True})

    async def picture(self, request: Request) -> Response:
        """Return the picture of the page of a place. Files are looked up, never named by a browser."""
        rater = self._rater(request)
        places = self.store.places(rater.id)
        number = request.path_params["place"]
        if number >= len(places):
            return PlainTextResponse("This page does not exist.", 404)
        path = self.store.tasks.picture_of(self.pairs[places[number].pair])
        if path is None:
            return PlainTextResponse("This page has no picture.", 404)
        data = await asyncio.to_thread(path.read_bytes)
        kind = "image/webp" if path.suffix == ".webp" else "image/png"
        return Response(data, media_type=kind, headers={"cache-control": "private, max-age=300"})

    async def organiser(self, request: Request) -> Response:
        """Return progress and agreement; the address holds a key."""
        return page(
            request,
            "rate_organiser.html",
            standing=standing(self.store),
            n_pairs=len(self.pairs),
            links={r.id: self.address.link(f"/join/{r.code}") for r in self.store.raters()},
            here=f"/organiser/{self.store.organiser_key}",
        )

    async def download(self, _: Request) -> Response:
        """Return the ratings so far, in the study's format."""
        response = answer(export(self.store))
        response.headers["content-disposition"] = 'attachment; filename="ratings.json"'
        return response

    def _rater(self, request: Request) -> Rater:
        rater = self.store.rater_of(request.state.browser)
        if rater is None:
            raise BadRequestError("Enter your name first.", 401)
        return rater

    def _place(self, rater: Rater, data: dict[str, Any]) -> int:
        place = data.get("place")
        n_places = self.store.n_places(rater.id)
        if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < n_places:
            raise BadRequestError("This page does not exist.", 404)
        return place


def _pair_data(pair: PairToRate, tasks: Tasks) -> dict[str, Any]:
    """Return a pair as shown to raters, without anything that reveals the parser, its id included."""
    is_formula = tasks.kind == "formula"
    return {
        "truth": _side(pair.truth_html or pair.truth, pair.truth, is_formula),
        "pred": _side(pair.pred, pair.pred, is_formula),
        "picture": tasks.picture_of(pair) is not None,
        "region": pair.region,
    }


@lru_cache(maxsize=4096)
def _side(rendered: str, raw: str, is_formula: bool) -> dict[str, Any]:
    """Return the formula, or the tables, of a text, to be drawn, and the text as it is."""
    if is_formula:
        return {"tables": [], "mathml": mathml(raw), "raw": raw}
    try:
        found = [f.table for f in read_tables(rendered)]
    except FormatError:
        found = []
    small = [table_to_json(table) for table in found if table.n_rows * table.n_cols <= _MOST_CELLS]
    return {"tables": small, "raw": raw}
