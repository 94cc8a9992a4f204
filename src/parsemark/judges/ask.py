"""Asks judges many questions at once: concurrency, retries, a limit on cost, and nothing asked twice.

Questions are drawn as they are needed, so a million of them need no more memory than a hundred. Each outcome
is delivered once, in the order in which they are ready. What does not have to happen between a reply and the
next request is done before or after: the next questions are made ready while the endpoint works, and replies
are read once the next request is under way. Only one thing comes first: a reply is stored when it arrives.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from parsemark.budget import Budget
from parsemark.errors import UsageError
from parsemark.judges.answer_store import AnswerStore, packed_request
from parsemark.judges.base import FINAL, Answered, Call, CallFailedError, Deliver, Judge, JudgeOutcome, Reply

SESSION_VARIABLE = "PARSEMARK_JUDGE_SESSION"  # processes that share this variable share one limit on cost
MAX_WAIT_S = 120.0  # no pause is longer; an endpoint that asks for a longer one is not asked any more
TOLD_WAIT_S = 5.0  # report a pause of all requests that is as long as this
MAX_RESERVED_S = 900.0
_ROUNDING = 1 + 1e-9
_AHEAD = 2  # for each request under way one question more is made ready
_FAILURES_IN_A_ROW = 24  # so many questions in a row without any reply, and the endpoint counts as gone


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How to ask."""

    concurrency: int | None = None  # requests to each judge at a time; None: the judge's own number
    max_cost_usd: float | None = None  # most that may be spent in this session; None for no limit
    retries: int = 5  # how often a request is sent again that got no reply
    more_answers: int = 2  # how often a question is asked again whose answer cannot be read
    first_wait_s: float = 1.0  # before the first retry; it doubles with each one


@dataclass(slots=True)
class _Endpoint:
    """What is shared by all requests to one judge."""

    judge: Judge
    connection: Any
    ahead: asyncio.Semaphore  # room for further questions that are ready or under way
    todo: asyncio.Queue[_Asked] = field(default_factory=asyncio.Queue)
    not_before: float = 0.0  # no request before this time: the endpoint asked for a pause
    n_failed: int = 0
    gone: str | None = None  # why no further request is sent


@dataclass(slots=True)
class _Asked:
    """A call, and what has come of it so far."""

    call: Call
    request: dict[str, Any]  # the first one; further ones differ in their seed
    key: str
    packed: bytes  # the first request as it is stored
    outcome: JudgeOutcome = field(default_factory=lambda: JudgeOutcome(Answered.NOT_ASKED))

    def take(self, reply: Reply, *, now: bool) -> None:
        """Store a further reply and its cost; one that is an answer ends the question."""
        last = self.outcome
        known = last.cost_usd is not None and reply.cost_usd is not None
        self.outcome = replace(
            last if last.status in FINAL else self.call.read(reply),
            cost_usd=(last.cost_usd or 0.0) + (reply.cost_usd or 0.0) if known else None,
            spent_usd=last.spent_usd + ((reply.cost_usd or 0.0) if now else 0.0),
            seconds=last.seconds + reply.seconds,
            n_replies=last.n_replies + 1,
            stored=not now and (last.stored or not last.n_replies),
        )

    def is_settled(self, more_answers: int) -> bool:
        """Return whether there is an answer, or there were enough tries."""
        return self.outcome.status in FINAL or self.outcome.n_replies > more_answers


_Arrived = asyncio.Queue[tuple[_Asked, _Endpoint, Reply | CallFailedError]]


def encoded_request(request: Mapping[str, Any]) -> str:
    """Return a request as text, the same for the same request."""
    return json.dumps(request, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def request_key(encoded: str, repeat: int) -> str:
    """Return the identity of a question to a judge: the hash of its first request and its repeat."""
    return hashlib.sha256(f'{{"repeat":{repeat},"request":{encoded}}}'.encode()).hexdigest()


def session_name() -> str:
    """Return the session of this process; a new one where it has none yet."""
    return os.environ.get(SESSION_VARIABLE) or uuid.uuid4().hex


def join_session(name: str) -> None:
    """Count everything that this process asks from now on against the limit of a session."""
    os.environ[SESSION_VARIABLE] = name


def _to_stderr(message: str) -> None:
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


@dataclass
class Asker:
    """Asks, and remembers the answers. Askers of one session share a limit on cost; `tell` gets what somebody
    who waits must know while asking goes on.
    """

    answers: AnswerStore
    options: AskOptions = field(default_factory=AskOptions)
    session: str = field(default_factory=session_name)
    tell: Callable[[str], None] = _to_stderr
    _past_worst: dict[Judge, str] = field(default_factory=dict, init=False)
    """Messages about judges that exceed their maximum cost, so that no limit holds."""
    _budget: Budget = field(init=False)
    _spent: float = field(default=0.0, init=False)
    _counted: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._budget = self.answers.budget(self.session, self.options.max_cost_usd)

    def ask(self, calls: Iterable[Call], deliver: Deliver) -> None:
        """Ask all questions and deliver every outcome; UsageError for a limit with an unknown price."""
        before, work = self.over_limit_usd(), self._ask(iter(calls), deliver)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(work)
        else:  # a loop runs already, as it does in a notebook
            with ThreadPoolExecutor(1) as pool:
                pool.submit(asyncio.run, work).result()
        over = self.over_limit_usd()
        if over > before:
            self.tell(f"Judges cost ${over:.4f} more than the limit of ${self.options.max_cost_usd:g}.")

    def spent_usd(self) -> float:
        """Return the amount paid by this asker so far, as far as prices are known."""
        return self._spent

    def counted_usd(self) -> float:
        """Return the amount that counts against the limit, with possible costs of replies without token
        counts.
        """
        return max(self._counted, self._spent)

    def over_limit_usd(self) -> float:
        """Return the amount by which the session exceeds the limit on cost.

        More than 0 only where an endpoint charged more than the prompt and `max_tokens` allow.
        """
        return self._budget.over_usd()

    async def _ask(self, calls: Iterator[Call], deliver: Deliver) -> None:
        endpoints: dict[Judge, _Endpoint] = {}
        arrived: _Arrived = asyncio.Queue()
        async with AsyncExitStack() as opened:
            try:
                async with asyncio.TaskGroup() as tasks:
                    workers = [tasks.create_task(self._read_all(arrived, deliver))]
                    for call in calls:
                        if call.judge not in endpoints:
                            at_a_time = self.options.concurrency or call.judge.concurrency
                            pool = call.judge.opened(at_a_time)
                            room = asyncio.Semaphore(at_a_time * _AHEAD)
                            endpoint = _Endpoint(call.judge, await opened.enter_async_context(pool), room)
                            endpoints[call.judge] = endpoint
                            workers += [
                                tasks.create_task(self._send_all(endpoint, arrived)) for _ in range(at_a_time)
                            ]
                        await self._make_ready(call, endpoints[call.judge], deliver)
                    for endpoint in endpoints.values():
                        for _ in range((self.options.concurrency or endpoint.judge.concurrency) * _AHEAD):
                            await endpoint.ahead.acquire()  # until every question is answered
                    for worker in workers:
                        worker.cancel()
            except BaseExceptionGroup as group:
                # Report the first failure at once, not after the last question.
                raise group.exceptions[0] from None

    async def _make_ready(self, call: Call, endpoint: _Endpoint, deliver: Deliver) -> None:
        """Line a question up to be sent, or deliver the answer that is stored."""
        await endpoint.ahead.acquire()
        request = call.judge.request(call.question, 0)
        encoded = encoded_request(request)
        asked = _Asked(call, request, request_key(encoded, call.question.repeat), packed_request(encoded))
        for reply in self.answers.replies(asked.key):
            asked.take(reply, now=False)
        if asked.is_settled(self.options.more_answers):
            endpoint.ahead.release()
            deliver(call, asked.outcome)
        else:
            endpoint.todo.put_nowait(asked)
            await asyncio.sleep(0)  # requests that can send or read do so first

    async def _send_all(self, endpoint: _Endpoint, arrived: _Arrived) -> NoReturn:
        """Send one question after the other; what comes of them is read elsewhere."""
        while True:
            asked = await endpoint.todo.get()
            try:
                came: Reply | CallFailedError = await self._reply(asked, endpoint)
            except CallFailedError as failure:
                came = failure
            arrived.put_nowait((asked, endpoint, came))

    async def _read_all(self, arrived: _Arrived, deliver: Deliver) -> NoReturn:
        """Deliver what has arrived; a question without an answer is lined up once more."""
        while True:
            asked, endpoint, came = await arrived.get()
            if isinstance(came, CallFailedError):
                outcome = replace(asked.outcome, status=came.status, value=None, message=came.message)
            else:
                asked.take(came, now=True)
                if not asked.is_settled(self.options.more_answers):
                    endpoint.todo.put_nowait(asked)
                    continue
                outcome = asked.outcome
            self._spent += outcome.spent_usd
            endpoint.ahead.release()
            deliver(asked.call, outcome)
            await asyncio.sleep(0)

    async def _reply(self, asked: _Asked, endpoint: _Endpoint) -> Reply:
        """Return one reply, stored; sent again while the endpoint fails in ways that pass."""
        call, attempt = asked.call, asked.outcome.n_replies
        request, packed = asked.request, asked.packed
        if attempt:
            request = call.judge.request(call.question, attempt)
            packed = packed_request(encoded_request(request))
        earlier: CallFailedError | None = None
        for retry in range(self.options.retries + 1):
            try:
                if endpoint.gone is not None:
                    raise CallFailedError(Answered.NOT_ASKED, endpoint.gone)
                worst = await self._reserved(call)
            except CallFailedError as refusal:
                raise earlier or refusal from refusal  # what was sent is not "not asked"
            paid = 0.0
            try:
                while (rest := endpoint.not_before - asyncio.get_running_loop().time()) > 0:
                    await asyncio.sleep(rest)
                reply: Reply = await endpoint.connection.send(request)
                paid = worst if reply.cost_usd is None else reply.cost_usd
                self.answers.add(asked.key, str(endpoint.judge), packed, reply)
                endpoint.n_failed = 0
                return reply
            except CallFailedError as failure:
                paid = worst if failure.may_cost else 0.0
                _check_pause(failure)
                if failure.lasting:
                    endpoint.gone = failure.message
                if not failure.retry or retry >= self.options.retries:
                    self._count_failure(endpoint, failure)
                    raise
                earlier = failure
                wait = self._wait_s(retry, failure.retry_after_s)
                if failure.status is Answered.RATE_LIMITED or failure.retry_after_s is not None:
                    self._hold_all(endpoint, wait, failure)
            finally:
                self._settle(call.judge, worst, paid)
            await asyncio.sleep(wait)
        raise AssertionError("the last retry returns or raises")

    def _count_failure(self, endpoint: _Endpoint, failure: CallFailedError) -> None:
        if failure.status in (Answered.UNREACHABLE, Answered.TIMED_OUT):
            endpoint.n_failed += 1
            if endpoint.n_failed >= _FAILURES_IN_A_ROW and endpoint.gone is None:
                endpoint.gone = f"given up after {endpoint.n_failed} failures in a row: {failure.message}"

    def _wait_s(self, retry: int, asked_for_s: float | None) -> float:
        """Return a doubling delay with a random part, so that requests that failed together are not
        repeated together.
        """
        doubled = self.options.first_wait_s * 2**retry * random.uniform(0.75, 1.25)
        return min(MAX_WAIT_S, doubled if asked_for_s is None else max(0.0, asked_for_s))

    def _hold_all(self, endpoint: _Endpoint, wait_s: float, failure: CallFailedError) -> None:
        """Send no request to this judge for a time; report a pause that looks like a fault."""
        until = asyncio.get_running_loop().time() + wait_s
        if wait_s >= TOLD_WAIT_S and until >= endpoint.not_before + TOLD_WAIT_S:
            self.tell(f"{endpoint.judge.label}: waiting {wait_s:,.0f} s: {failure.message}")
        endpoint.not_before = max(endpoint.not_before, until)

    async def _reserved(self, call: Call) -> float:
        """Reserve the maximum cost of a request; wait while others may cost less than reserved."""
        limit = self.options.max_cost_usd
        if limit is None:
            return 0.0
        if call.judge in self._past_worst:
            raise CallFailedError(Answered.NOT_ASKED, self._past_worst[call.judge])
        worst = call.judge.worst_cost_usd(call.question)
        if worst is None:
            raise UsageError(
                f"The price of {call.judge} is unknown, so --max-cost cannot be enforced. Give it in "
                "USD per million tokens: input_usd=…,output_usd=…"
            )
        patience = asyncio.get_running_loop().time() + MAX_RESERVED_S
        while (verdict := self._budget.reserve(worst)) == "wait":
            if asyncio.get_running_loop().time() > patience:
                break  # a process that died has left something set aside
            await asyncio.sleep(0.02)
        if verdict != "yes":
            raise CallFailedError(
                Answered.NOT_ASKED,
                f"asking could exceed the limit of ${limit:g}: this question may cost up to ${worst:.4g}",
            )
        return worst

    def _settle(self, judge: Judge, worst: float, paid: float) -> None:
        limit = self.options.max_cost_usd
        if limit is None:
            return
        self._counted += paid
        self._budget.settle(worst, paid)
        if paid > worst * _ROUNDING and judge not in self._past_worst:
            self._past_worst[judge] = (
                f"{judge.label} charged ${paid:.4g} for a question that should cost at most ${worst:.4g}, "
                f"given its length and max_tokens. So the limit of ${limit:g} cannot be guaranteed, and no "
                "more questions are sent"
            )
            self.tell(f"{self._past_worst[judge]}.")


def _check_pause(failure: CallFailedError) -> None:
    """Somebody who asks for hours of patience has refused: nothing is sent again, and nothing more."""
    asked_s = failure.retry_after_s
    if failure.retry and asked_s is not None and asked_s > MAX_WAIT_S:
        failure.retry, failure.lasting = False, True
        failure.message += (
            f" (requests a pause of {asked_s:,.0f} s; parsemark waits at most {MAX_WAIT_S:g} s)"
        )
