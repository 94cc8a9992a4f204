"""What every request passes: the right host, the right token, the right origin, a body of bounded size.

- *Host*: a page of another site whose name was made to point here (DNS rebinding) still sends its own name.
- *Token*: needed where the server is reachable from other machines; it comes with the first link, and lives
  in a cookie from then on.
- *Origin and CSRF*: whatever writes needs a header that only our own pages can set, with a value bound to the
  browser's cookie. Cookies are `SameSite=Lax`: with `Strict` a link that was clicked in somebody's mail would
  come without them, and bring a new identity. No address changes anything when it is only opened.
- *Headers*: nothing from elsewhere, nothing inline, no frames.
"""

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ACCESS_COOKIE = "parsemark_access"
BROWSER_COOKIE = "parsemark_browser"
CSRF_HEADER = "x-parsemark"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_SAFE = frozenset({"GET", "HEAD"})
_YEAR_S = 365 * 24 * 3600


@dataclass(frozen=True)
class Guard:
    """The rules of one server.

    `hosts`: names under which it may be addressed, without port; empty for any, which needs a token from
    every browser. CSRF values are made from `secret`, kept with the work, so that a restart does not end a
    page.
    """

    hosts: frozenset[str]
    token: str | None
    max_body_bytes: int
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def around(self, app: App) -> App:
        """Return the app behind these rules."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            request = Request(scope)
            browser = request.cookies.get(BROWSER_COOKIE)
            is_new = not _is_browser(browser)
            browser = secrets.token_urlsafe(24) if is_new else str(browser)
            scope.setdefault("state", {})["browser"] = browser
            scope["state"]["csrf"] = self.csrf(browser)
            refused = self._refusal(request, browser)
            cookies = [_cookie(BROWSER_COOKIE, browser)] if is_new else []

            async def send_with_headers(message: MutableMapping[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    headers = list(message.get("headers", []))
                    known = {name.lower() for name, _ in headers}
                    extra = {"cache-control": "no-store", **_HEADERS}
                    headers += [(k.encode(), v.encode()) for k, v in extra.items() if k.encode() not in known]
                    headers += [(b"set-cookie", c.encode()) for c in cookies]
                    message["headers"] = headers
                await send(message)

            if refused is not None:
                await refused(scope, receive, send_with_headers)
                return
            body = await self._body(receive, request)
            if body is None:
                await PlainTextResponse("The request is too large.", 413)(scope, receive, send_with_headers)
                return
            await app(scope, _replayed(body, receive), send_with_headers)

        return guarded

    def csrf(self, browser: str) -> str:
        """Return the value that our pages send back with whatever they write."""
        return hmac.new(self.secret, browser.encode(), hashlib.sha256).hexdigest()

    def _refusal(self, request: Request, browser: str) -> Response | None:
        host = _host(request.headers.get("host", ""))
        if self.hosts and host not in self.hosts:
            return PlainTextResponse("This server does not answer requests for this host name.", 421)
        if self.token is not None and (refused := self._without_token(request)) is not None:
            return refused
        return None if request.method in _SAFE else self._forged(request, browser)

    def _forged(self, request: Request, browser: str) -> Response | None:
        """Return a refusal for what was not sent by a page of ours."""
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
            return PlainTextResponse("Requests from other sites are refused.", 403)
        if request.headers.get("sec-fetch-site") not in (None, "same-origin"):
            return PlainTextResponse("Requests from other sites are refused.", 403)
        given = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(given.encode(), self.csrf(browser).encode()):
            return PlainTextResponse("The page is out of date. Load it again.", 403)
        return None

    def _without_token(self, request: Request) -> Response | None:
        """Return a response for browsers that have no token yet, or that just brought it in a link."""
        expected = (self.token or "").encode()
        given = request.query_params.get("token")
        if given is not None and request.method in _SAFE:
            if not hmac.compare_digest(given.encode(), expected):
                return PlainTextResponse("This link is not valid.", 403)
            # A path and nothing else: `//other.site` would lead away.
            target = "/" + request.url.path.lstrip("/\\")
            response = RedirectResponse(target, 303)
            response.headers.append("set-cookie", _cookie(ACCESS_COOKIE, self.token or ""))
            return response
        kept = request.cookies.get(ACCESS_COOKIE, "")
        if not hmac.compare_digest(kept.encode(), expected):
            return PlainTextResponse("Open the link that you were sent; it holds the key to this page.", 403)
        return None

    async def _body(self, receive: Receive, request: Request) -> bytes | None:
        """Return the whole body; None if it is too large, whatever its header says."""
        if request.method in _SAFE:
            return b""
        declared = request.headers.get("content-length", "0")
        if (
            not (declared.isascii() and declared.isdigit())
            or len(declared) > 15
            or int(declared) > self.max_body_bytes
        ):
            return None
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return b"".join(chunks)
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > self.max_body_bytes:
                return None
            chunks.append(chunk)
            if not message.get("more_body"):
                return b"".join(chunks)


def _replayed(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> MutableMapping[str, Any]:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replay


def _is_browser(value: str | None) -> bool:
    return value is not None and 20 <= len(value) <= 64 and value.replace("-", "").replace("_", "").isalnum()


def _host(header: str) -> str:
    """Return the name in a Host header, without the port."""
    if header.startswith("["):
        return header.partition("]")[0] + "]"
    return header.partition(":")[0].lower()


def _cookie(name: str, value: str) -> str:
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={_YEAR_S}"
