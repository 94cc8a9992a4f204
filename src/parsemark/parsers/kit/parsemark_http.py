"""Calls of services: retries, waits and limits. It needs httpx. No key gets into a message."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

ATTEMPTS = 5
MAX_BYTES = 50_000_000
LONGEST_WAIT_S = 60.0


def call(method: str, address: str, *, accept: tuple[int, ...] = (200,), **details: Any) -> httpx.Response:
    """A service's answer. Rate limits, passing failures and broken connections are tried again, ever later.

    `accept`: the status codes that are an answer; `details` is what httpx takes. ConnectionError if there is
    no answer, ValueError if the service refuses, or answers with too much.
    """
    problem = "the service does not answer"
    for attempt in range(ATTEMPTS):
        try:
            answer = httpx.request(method, address, timeout=600, **details)
        except httpx.TransportError as error:
            problem = f"the service does not answer: {type(error).__name__}"
            pause(attempt)
            continue
        passing = answer.status_code in (408, 429) or answer.status_code >= 500
        if passing and answer.status_code not in accept:
            problem = f"the service is busy or broken: {answer.status_code} {answer.text[:300]}"
            pause(attempt, answer.headers.get("retry-after"))
            continue
        if answer.status_code not in accept:
            raise ValueError(f"the service refused with {answer.status_code}: {answer.text[:500]}")
        if len(answer.content) > MAX_BYTES:
            raise ValueError(f"the answer has {len(answer.content)} bytes, over {MAX_BYTES}")
        return answer
    raise ConnectionError(f"{problem} (after {ATTEMPTS} attempts)")


def pause(attempt: int, asked: str | None = None) -> None:
    """Wait as long as the service asks, else twice as long each time; `PARSEMARK_WAIT_S` is the unit."""
    unit = float(os.environ.get("PARSEMARK_WAIT_S", "2"))
    named = asked_seconds(asked)
    seconds = unit * 2**attempt if named is None else named * min(1.0, unit)
    time.sleep(min(seconds, LONGEST_WAIT_S))


def asked_seconds(header: str | None) -> float | None:
    """What `Retry-After` says: seconds, or the time at which to come again; None for anything else."""
    try:
        return max(0.0, float(header or ""))
    except ValueError:
        pass
    try:
        then = parsedate_to_datetime(header or "")
        return max(0.0, (then.astimezone(UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def poll(look: Callable[[], Any], limit_s: float = 600) -> Any:
    """What `look` returns once that is not None; TimeoutError if that takes too long."""
    unit = float(os.environ.get("PARSEMARK_WAIT_S", "2"))
    end = time.monotonic() + limit_s
    while (found := look()) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"the service has not finished within {limit_s:g} s")
        time.sleep(unit)
    return found
