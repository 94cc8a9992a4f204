"""What both apps share: templates, assets, JSON answers, and how the server is started."""

import asyncio
import contextlib
import faulthandler
import json
import logging
import mimetypes
import os
import re
import resource
import secrets
import signal
import socket
import threading
import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from ipaddress import ip_address
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from parsemark.errors import UsageError
from parsemark.plain_words import FILTERS, mended
from parsemark.system.processes import describe_exit
from parsemark.web.guard import Guard

_LOG = logging.getLogger("parsemark.web")
_ASSETS = ("parsemark.web", "parsemark.report")  # where assets are looked for; the look is the report's


class BadRequestError(Exception):
    """What a browser sent cannot be; the message is shown to the person."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@lru_cache(maxsize=1)
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("parsemark.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    return environment


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Return a page; all values are escaped."""
    text = _templates().get_template(template).render(csrf=request.state.csrf, **values)
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def answer(data: Any, status: int = 200) -> Response:
    """Return JSON for our own scripts."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False)
    return Response(text, status, media_type="application/json")


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object that a script of ours sent."""
    try:
        data = mended(json.loads(await request.body(), parse_int=_whole, parse_constant=_no_number))
    except (ValueError, RecursionError) as error:
        raise BadRequestError("The request is not JSON.") from error
    if not isinstance(data, dict):
        raise BadRequestError("The request is not an object.")
    return data


_MAX_DIGITS = 18


def _whole(digits: str) -> int:
    """Return a whole number that a database and a float can hold."""
    if len(digits) > _MAX_DIGITS:
        raise ValueError("a number is too large")
    return int(digits)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def printable(text: str) -> str:
    """Return the text on one line, without what cannot be seen."""
    shown = "".join(c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c)[0] != "C")
    return " ".join(shown.split())


def person_name(name: object) -> str:
    """Return the name that somebody entered."""
    clean = printable(name) if isinstance(name, str) else ""
    if not 1 <= len(clean) <= 60:
        raise BadRequestError("A name must have 1 to 60 characters.")
    return clean


def nonce_of(data: Mapping[str, Any]) -> str:
    """Return the value that identifies a request that is sent twice."""
    nonce = data.get("nonce")
    if not isinstance(nonce, str) or re.fullmatch(r"[\w-]{8,64}", nonce) is None:
        raise BadRequestError("The request has no nonce.")
    return nonce


@lru_cache(maxsize=128)
def _asset(name: str) -> bytes | None:
    """Return an asset by its path. Names with anything but plain parts are unknown."""
    parts = name.split("/")
    if any(not part or part.startswith(".") or "\\" in part or "\0" in part for part in parts):
        return None
    for package in _ASSETS:
        found = files(package).joinpath("assets", *parts)
        if found.is_file():
            return found.read_bytes()
    return None


async def _serve_asset(request: Request) -> Response:
    name = request.path_params["name"]
    data = _asset(name)
    if data is None:
        return PlainTextResponse("This file does not exist.", 404)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(data, media_type=kind, headers={"cache-control": "max-age=300"})


def build_app(routes: Sequence[BaseRoute], guard: Guard) -> Any:
    """Return an app of these routes, with assets, behind the guard."""

    async def explain(_: Request, error: Exception) -> Response:
        if isinstance(error, BadRequestError):
            return JSONResponse({"error": str(error)}, error.status)
        raise error

    app = Starlette(
        routes=[*routes, Route("/assets/{name:path}", _serve_asset)],
        exception_handlers={BadRequestError: explain},
    )
    app.router.redirect_slashes = False
    return guard.around(app)


@dataclass(frozen=True)
class Address:
    """Where a server listens, and the links that lead to it."""

    host: str
    port: int
    token: str | None

    @property
    def hosts(self) -> frozenset[str]:
        """Return names under which it may be addressed."""
        if self.token is not None:
            return frozenset()
        return frozenset({"localhost", "127.0.0.1", "[::1]", self.host})

    def link(self, path: str = "/") -> str:
        """Return an address to open in a browser."""
        shown = self.host if self.host not in ("0.0.0.0", "::") else socket.gethostname()
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}{path}" + (f"?token={self.token}" if self.token else "")


def choose_address(host: str, port: int) -> Address:
    """Return the address: loopback needs no token; any other interface gets one."""
    if not 0 <= port <= 65535:
        raise UsageError(f"Port {port} does not exist; choose one from 0 to 65535.")
    return Address(host, port, None if _is_loopback(host) else secrets.token_urlsafe(24))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def open_socket(address: Address) -> tuple[socket.socket, Address]:
    """Return a socket that listens, and the address with the port that it got (0 asks for any)."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address.host, address.port))
    except OSError as error:
        listener.close()
        raise UsageError(
            f"Cannot listen on {address.host}:{address.port}: {error.strerror}. Choose another --port."
        ) from error
    listener.listen(512)
    return listener, Address(address.host, listener.getsockname()[1], address.token)


def open_socket_near(host: str, port: int | None, usual: int) -> tuple[socket.socket, Address]:
    """Listen on a port; without one on the usual port or, where another program has it, on a free one."""
    if port is not None:
        return open_socket(choose_address(host, port))
    try:
        return open_socket(choose_address(host, usual))
    except UsageError:
        return open_socket(choose_address(host, 0))


def serve(app: Any, listener: socket.socket) -> None:
    """Serve until interrupted."""
    import uvicorn

    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    config = uvicorn.Config(
        app,
        http=_patient_protocol(),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        lifespan="off",
    )
    logging.getLogger("asyncio").addFilter(_OncePerMinute())
    uvicorn.Server(config).run(sockets=[listener])


HEADER_S = 10.0  # for the head of a request, from the opening of its connection or its first byte
MAX_CONNECTIONS = 256


def _patient_protocol() -> type:
    """Return an HTTP protocol in which a client with an unfinished request head blocks nobody else."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    opened: set[Any] = set()
    waiting: dict[Any, asyncio.TimerHandle] = {}  # connections without a request, the oldest first

    class PatientProtocol(H11Protocol):
        """One connection."""

        def connection_made(self, transport: Any) -> None:
            """Wait for its first request; of too many connections the oldest that waits is closed."""
            super().connection_made(transport)
            opened.add(self)
            if len(opened) > MAX_CONNECTIONS:
                next(iter(waiting), self).transport.abort()
            self._wait()

        def data_received(self, data: bytes) -> None:
            """Read on; for the head of each further request there is as much time."""
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._forget()
            elif self not in waiting:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget it."""
            opened.discard(self)
            self._forget()
            super().connection_lost(exc)

        def _wait(self) -> None:
            waiting[self] = self.loop.call_later(HEADER_S, self.transport.abort)

        def _forget(self) -> None:
            if (timer := waiting.pop(self, None)) is not None:
                timer.cancel()

    return PatientProtocol


class _OncePerMinute(logging.Filter):
    """Lets a message of the event loop through once a minute: who opens many connections fills no disk."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a message is written, without its traceback."""
        record.exc_info = record.exc_text = None
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + 60.0
        return True


_MANY = 5
_SHORT_S = 60.0


def keep_serving() -> bool:
    """Continue in a child process, which is restarted if it crashes; this process watches it and listens.

    To be called before anything is opened but the socket. It returns in the child, whether that is the first
    one; in the process that watches it ends with the program. A crash loses nothing: what people were told is
    saved is on the disk.
    """
    logging.basicConfig(format="%(asctime)s %(message)s")
    ended: list[float] = []
    while True:
        watched, alive = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(alive)
            threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
            faulthandler.enable()
            return not ended
        os.close(watched)
        status = _wait_for(pid)
        os.close(alive)
        if status >= 0 or -status in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os._exit(status if status >= 0 else 128 - status)
        ended.append(time.monotonic())
        stays = len(ended) >= _MANY and ended[-1] - ended[-_MANY] < _SHORT_S
        rest = "It ends again and again, so it is not restarted." if stays else "It is restarted."
        _LOG.error("The server ended %s. %s Everything that was saved is kept.", describe_exit(status), rest)
        if stays:
            os._exit(1)


def _wait_for(pid: int) -> int:
    """Return the exit code of the child, as `subprocess` gives it; signals to us are its business."""

    def pass_on(number: int, _: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _end_with(watched: int) -> None:
    os.read(watched, 1)  # returns when the process that watches is gone
    os._exit(1)
