"""`openai(model=…, base_url=…)`: any endpoint that speaks OpenAI's chat protocol.

The key comes from the environment when a request is sent and goes into one header; it is in no request that
is stored, no message and no error, and what a server echoes of it is blacked out.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from parsemark.errors import UsageError
from parsemark.extras import needed_for
from parsemark.judges.base import Answered, CallFailedError, Judge, Question, Reply
from parsemark.plain_words import mended
from parsemark.system.secrets import MASK, masked

if TYPE_CHECKING:
    import aiohttp

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY = "OPENAI_API_KEY"
MAX_REPLY_BYTES = 4 * 2**20
_CONNECT_S = 30.0
_LASTING = {
    401: "refused the key",
    402: "has no credit left",
    403: "does not allow this",
    404: "does not have this model or address",
}
_BROKEN = {
    "ClientConnectorError": "no connection",
    "ClientConnectorDNSError": "no such host",
    "ClientOSError": "the connection broke",
    "ClientPayloadError": "the connection was closed too early",
    "ServerDisconnectedError": "the connection was closed too early",
}
_NO_QUOTA = frozenset({"insufficient_quota", "billing_not_active", "billing_hard_limit_reached"})
"""Codes of errors that come as a limit on the rate, but that no waiting mends."""
_LONGEST_TEXT = 200
_OVERHEAD_TOKENS = 64  # what the chat format adds to the texts, at most


@dataclass(frozen=True)
class OpenAI(Judge):
    """A model behind an OpenAI-compatible endpoint. The form of its answers is asked for by JSON schema
    (`schema`, OpenAI's way; `guided`, llama.cpp's way, where whole numbers and short texts are all that can
    be written), as some JSON object (`json`), or in words alone (`text`).
    """

    name: ClassVar[str] = "openai"

    model: str = ""  # as the endpoint calls it
    base_url: str = DEFAULT_URL  # up to and including `/v1`
    key_env: str = DEFAULT_KEY  # variable with the key; over plain http elsewhere it is sent only if named
    output: Literal["schema", "guided", "json", "text"] = "schema"  # how the form is asked for: see above
    temperature: float = 0.0  # a negative number leaves it to the endpoint (some models accept no other)
    max_tokens: int = 2048  # of an answer
    timeout_s: float = 120.0  # of one request
    input_usd: float | None = None  # price per million tokens, where genai-prices does not know it
    output_usd: float | None = None  # the same for output

    def __post_init__(self) -> None:
        if not self.model:
            raise UsageError("Judge 'openai' needs a model: openai(model=NAME).")
        url = urlsplit(self.base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise UsageError("base_url of judge 'openai' must be an http or https address.")
        if url.username or url.password or url.query or url.fragment:
            raise UsageError(
                "base_url of judge 'openai' must not contain a user, password or query, because it is "
                "stored in runs. Put the key into an environment variable and give its name with key_env."
            )
        self.check_concurrency()
        if self.max_tokens < 1 or self.timeout_s <= 0:
            raise UsageError("max_tokens and timeout_s of judge 'openai' must be positive.")
        for price in (self.input_usd, self.output_usd):
            if price is not None and not 0 <= price < 1e6:
                raise UsageError("Prices of judge 'openai' are US dollars per million tokens.")
        if (self.input_usd is None) != (self.output_usd is None):
            raise UsageError("Give both input_usd and output_usd of judge 'openai', or none.")

    @property
    def label(self) -> str:
        """Return the model's name, and what else differs from the default."""
        asked = Path(self.prompt_file).stem if self.prompt_file else self.prompt
        parts = [p for p in (asked, self.order) if p not in ("tuned", "truth_first")]
        parts += [] if self.fence else ["no fence"]
        return f"{self.model} ({', '.join(parts)})" if parts else self.model

    def request(self, question: Question, attempt: int) -> dict[str, Any]:
        """Return the address and the body; attempts and repeats differ in their seed."""
        host = urlsplit(self.base_url).hostname
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.user},
            ],
            "seed": 1000 * question.repeat + attempt,
            # OpenAI's own endpoint has renamed the limit; the others have not followed.
            "max_completion_tokens" if host == "api.openai.com" else "max_tokens": self.max_tokens,
        }
        if self.temperature >= 0:
            body["temperature"] = self.temperature
        if self.output == "schema":
            form = {"name": "answer", "strict": True, "schema": dict(question.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif self.output == "guided":
            body["response_format"] = {"type": "json_object", "schema": tightened(question.schema)}
        elif self.output == "json":
            body["response_format"] = {"type": "json_object"}
        return {"url": f"{self.base_url.rstrip('/')}/chat/completions", "body": body}

    @property
    def price(self) -> Price | None:
        """Return the price of this model here; None where it is not known."""
        if self.input_usd is not None and self.output_usd is not None:
            return Price(self.input_usd, self.output_usd)
        return published_price(self.model, self.base_url)

    def worst_cost_usd(self, question: Question) -> float | None:
        """Return the maximum cost: a token stands for at least one byte, and an answer has at most
        `max_tokens`.
        """
        if self.price is None:
            return None
        n_bytes = len(question.system.encode()) + len(question.user.encode())
        n_bytes += len(json.dumps(dict(question.schema)))
        return self.price.of(n_bytes + _OVERHEAD_TOKENS, self.max_tokens)

    @asynccontextmanager
    async def opened(self, concurrency: int) -> AsyncIterator[_Connection]:
        """Open a pool of connections to the endpoint."""
        aiohttp = _aiohttp()
        verify = ssl.create_default_context() if self.base_url.startswith("https") else False
        # Neither redirects nor cookies nor netrc: the key goes to the endpoint that was named, nowhere else.
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=concurrency, ssl=verify),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(_CONNECT_S, self.timeout_s)),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            proxy=_proxy(self.base_url),
        ) as session:
            yield _Connection(self, session, self._key(), self.price)

    def _key(self) -> str | None:
        plain = self.base_url.startswith("http:") and not _is_loopback(self.base_url)
        if plain and self.key_env == DEFAULT_KEY:
            return None
        return os.environ.get(self.key_env, "").strip() or None


@dataclass(frozen=True, slots=True)
class _Connection:
    """Sends requests of one judge."""

    _judge: OpenAI
    _session: aiohttp.ClientSession
    _key: str | None
    _price: Price | None

    async def send(self, request: dict[str, Any]) -> Reply:
        """Send one request; CallFailedError if no usable reply came."""
        aiohttp = _aiohttp()
        begin = time.perf_counter()
        body = json.dumps(request["body"], ensure_ascii=True).encode()
        try:
            async with asyncio.timeout(self._judge.timeout_s):
                status, headers, data = await self._post(request["url"], body)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            unsent = isinstance(error, aiohttp.ConnectionTimeoutError | aiohttp.ClientConnectorError)
            # The text of such an error may quote a header; its kind says enough.
            kind = type(error).__name__
            outcome, why = Answered.UNREACHABLE, f"{self._judge.base_url}: {_BROKEN.get(kind, kind)}"
            if isinstance(error, TimeoutError):
                outcome, why = Answered.TIMED_OUT, f"no answer within {self._judge.timeout_s:g} s"
            raise CallFailedError(outcome, why, retry=True, may_cost=not unsent) from None
        if status != 200:
            raise self._failure(status, headers, data)
        return self._reply(data, time.perf_counter() - begin)

    async def _post(self, url: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Read at most `MAX_REPLY_BYTES`; a server that drips forever is bounded by the time limit."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        async with self._session.post(url, data=body, headers=headers, allow_redirects=False) as response:
            chunks, size = [], 0
            async for chunk in response.content.iter_any():
                size += len(chunk)
                if size > MAX_REPLY_BYTES:
                    why = f"{self._judge.base_url}: the reply exceeds {MAX_REPLY_BYTES:,} bytes"
                    raise CallFailedError(Answered.UNREACHABLE, why, may_cost=True)
                chunks.append(chunk)
            said = {k.lower(): v for k, v in response.headers.items()}
            return response.status, said, b"".join(chunks)

    def _failure(self, status: int, headers: dict[str, str], data: bytes) -> CallFailedError:
        where = self._judge.base_url
        if status in _LASTING:
            hint = f" (the key is read from {self._judge.key_env})" if status in (401, 403) else ""
            said = f": {self._said(data)}" if status in (402, 404) else ""
            message = f"{where} {_LASTING[status]}, HTTP {status}{hint}{said}"
            return CallFailedError(Answered.REJECTED, message, lasting=True)
        wait = _retry_after(headers.get("retry-after"))
        if status == 429 and _NO_QUOTA & _error_codes(data):
            message = f"{where} has no quota left: {self._said(data)}"
            return CallFailedError(Answered.RATE_LIMITED, message, lasting=True)
        if status in (408, 409, 425, 429) or status >= 500:
            kind = Answered.RATE_LIMITED if status == 429 else Answered.UNREACHABLE
            what = "limits the rate" if status == 429 else f"answered HTTP {status}"
            message = f"{where} {what}: {self._said(data)}"
            return CallFailedError(kind, message, retry=True, retry_after_s=wait)
        hint = " Try output=json or output=text." if b"response_format" in data else ""
        kind = Answered.UNFIT if status in (400, 413, 422) else Answered.REJECTED
        message = f"{where} rejected the request, HTTP {status}: {self._said(data)}.{hint}"
        return CallFailedError(kind, message)

    def _said(self, data: bytes) -> str:
        """Return the server's error message, shortened and without the key."""
        text = self._blacked_out(data.decode("utf-8", "replace"))
        with suppress(ValueError, RecursionError):
            found = json.loads(text)
            error = found.get("error", found) if isinstance(found, dict) else found
            text = str(error.get("message", error)) if isinstance(error, dict) else str(error)
        return " ".join(text[:1200].split())[:300] or "no reason given"

    def _blacked_out(self, text: str) -> str:
        return masked(text, self._key).replace(MASK, "[key]")

    def _reply(self, data: bytes, seconds: float) -> Reply:
        try:
            found = mended(json.loads(self._blacked_out(data.decode("utf-8"))))
            choice = found["choices"][0]
            if choice.get("error") or choice.get("finish_reason") == "error":
                raise ValueError("the endpoint reports a failure")
            message = choice["message"]
            usage = found.get("usage") or {}
            prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
            text, refusal = _text_of_content(message.get("content")), message.get("refusal")
            finish, model = choice.get("finish_reason"), found.get("model")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
            # A page of a proxy, an error with the wrong status: nothing that was judged can have caused it.
            why = f"{self._judge.base_url} did not reply in the chat protocol: {self._said(data)}"
            raise CallFailedError(Answered.UNREACHABLE, why, retry=True, may_cost=True) from error
        price = self._price
        cost = None if price is None or prompt is None or completion is None else price.of(prompt, completion)
        return Reply(
            text=text,
            finish=finish if isinstance(finish, str) else None,
            refusal=refusal if isinstance(refusal, str) and refusal else None,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost_usd=cost,
            seconds=seconds,
            model=model if isinstance(model, str) else None,
        )


def tightened(schema: Any) -> Any:
    """Return a schema that leaves a small model no room to err: whole numbers one by one, texts of limited
    length.

    Grammars know no bounds of numbers, so a model that is held by one could still answer 85 of 10.
    """
    if isinstance(schema, Mapping):
        if schema.get("type") == "number" and {"minimum", "maximum"} <= schema.keys():
            return {"enum": list(range(int(schema["minimum"]), int(schema["maximum"]) + 1))}
        if schema.get("type") == "string":
            return {"maxLength": _LONGEST_TEXT, **schema}
        return {key: tightened(value) for key, value in schema.items()}
    return schema


def _text_of_content(content: object) -> str:
    """Return the content of a message: a text, or parts of which some are texts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def _count(usage: dict[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


def _error_codes(data: bytes) -> set[str]:
    """Return the `code` and `type` of an error."""
    try:
        error = json.loads(data)["error"]
        return {name for name in (error.get("code"), error.get("type")) if isinstance(name, str)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return set()


def _retry_after(value: str | None) -> float | None:
    """Return seconds to wait, from a number of seconds or a date."""
    for seconds in (float, lambda date: (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()):
        with suppress(ValueError, TypeError, OverflowError):
            return max(0.0, seconds(value or ""))
    return None


def _proxy(url: str) -> str | None:
    """Return the proxy that the environment names for an address; none for this machine."""
    parts = urlsplit(url)
    if _is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _aiohttp() -> Any:
    with needed_for("A judge"):
        import aiohttp
    return aiohttp


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the price of a number of tokens."""
        return (prompt_tokens * self.input_usd + completion_tokens * self.output_usd) / 1e6


@lru_cache(maxsize=64)
def published_price(model: str, base_url: str) -> Price | None:
    """Return the price that genai-prices knows for a model at an endpoint; None where it knows none.

    The endpoint decides: the same weights cost nothing on one's own machine.
    """
    with needed_for("The price of a model"):
        from genai_prices import Usage, calc_price
    # Each kind of token alone, so that steps in the price by length do not mix.
    thousand = (Usage(input_tokens=1000, output_tokens=0), Usage(input_tokens=0, output_tokens=1000))
    try:
        prices = [calc_price(used, model_ref=model, provider_api_url=base_url) for used in thousand]
    except (LookupError, ValueError):
        return None
    return Price(*(float(price.total_price) * 1000 for price in prices))
