"""Asking over HTTP: limits, failures, cost, secrets, and what is kept."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.judges.chat_server import Answer, ChatServer, Request, completion, error, honest
from tests.waiting import wait_until

from parsemark.errors import JudgeError, UsageError
from parsemark.judges import (
    Answered,
    AnswerStore,
    Asker,
    AskOptions,
    Pair,
    PairVerdict,
    get_judge,
    judge_pairs,
)
from parsemark.judges.ask import SESSION_VARIABLE


@pytest.fixture(autouse=True)
def _own_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SESSION_VARIABLE, raising=False)


FAST = AskOptions(first_wait_s=0.01, retries=2)
KEY = "sk-very-secret-0123456789abcdef"


def some_pairs(n: int) -> list[Pair]:
    return [Pair(f"p{k}", f"| a | {k} |", f"| a | {k + k % 3} |") for k in range(n)]


def judged(
    server: ChatServer, folder: Path, n: int = 3, options: AskOptions = FAST, repeats: int = 1, **spec: Any
) -> dict[tuple[str, int], PairVerdict]:
    verdicts: list[PairVerdict] = []
    with AnswerStore(folder / "answers.sqlite") as answers:
        judge = get_judge(server.spec(**spec))
        judge_pairs(some_pairs(n), [judge], Asker(answers, options), verdicts.append, repeats=repeats)
    assert len(verdicts) == n * repeats, "each pair has one verdict for each repeat"
    return {(v.pair, v.repeat): v for v in verdicts}


def statuses(verdicts: dict[tuple[str, int], PairVerdict]) -> set[Answered]:
    return {v.status for v in verdicts.values()}


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    with ChatServer() as server:
        first = judged(server, tmp_path, 20, input_usd=1, output_usd=2)
        assert len(server.requests) == 20
        second = judged(server, tmp_path, 20, input_usd=1, output_usd=2)
        assert len(server.requests) == 20
    assert {k: v.score for k, v in first.items()} == {k: v.score for k, v in second.items()}
    assert all(v.stored and v.spent_usd == 0 for v in second.values())
    assert [v.cost_usd for v in second.values()] == [pytest.approx((100 * 1 + 20 * 2) / 1e6)] * 20
    assert sum(v.spent_usd for v in first.values()) == pytest.approx(20 * 140e-6)


def test_another_prompt_model_or_repeat_is_another_question(tmp_path: Path) -> None:
    with ChatServer() as server:
        judged(server, tmp_path, 2)
        judged(server, tmp_path, 2, prompt="naive")
        judged(server, tmp_path, 2, order="pred_first")
        judged(server, tmp_path, 2, repeats=3)
        judged(server, tmp_path, 2, timeout_s=7)
        assert len(server.requests) == 2 * (1 + 1 + 1 + 2)
        assert all(r["temperature"] == 0 for r in server.requests)


def test_concurrency_is_used_and_kept(tmp_path: Path) -> None:
    with ChatServer(delay_s=0.02) as server:
        judged(server, tmp_path, 40, AskOptions(concurrency=5))
    assert server.most_at_once == 5


def test_rate_limits_are_waited_for(tmp_path: Path) -> None:
    def limited(request: Request, count: int) -> Answer:
        return error(429, "slow down", retry_after="0.05") if count == 0 else honest(request, count)

    with ChatServer(limited) as server:
        verdicts = judged(server, tmp_path, 6, AskOptions(retries=4, first_wait_s=0.01))
    assert statuses(verdicts) == {Answered.OK}


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (lambda r, c: error(429, "never"), Answered.RATE_LIMITED),
        (lambda r, c: error(500, "oops"), Answered.UNREACHABLE),
        (lambda r, c: error(400, "too long"), Answered.UNFIT),
        (lambda r, c: error(401, KEY), Answered.REJECTED),
        (lambda r, c: (0, {}, b""), Answered.UNREACHABLE),
        (lambda r, c: error(402, "pay first"), Answered.REJECTED),
        (lambda r, c: (200, {}, b"<html>"), Answered.UNREACHABLE),
        (lambda r, c: (200, {}, b'{"choices": []}'), Answered.UNREACHABLE),
        (lambda r, c: (200, {}, b"\xff\xfe"), Answered.UNREACHABLE),
        (lambda r, c: (200, {}, b""), Answered.UNREACHABLE),
        (lambda r, c: (200, {}, b"[" * 100_000), Answered.UNREACHABLE),
        (lambda r, c: error(200, "the provider is down"), Answered.UNREACHABLE),
        (lambda r, c: completion("", finish="error"), Answered.UNREACHABLE),
        (lambda r, c: (302, {"location": "http://127.0.0.1:1/"}, b""), Answered.REJECTED),
        (lambda r, c: completion("not JSON"), Answered.BROKEN),
        (lambda r, c: completion('{"errors": ["x'), Answered.BROKEN),
        (lambda r, c: completion('{"errors": ["x', finish="length"), Answered.CUT_OFF),
        (lambda r, c: completion(None, refusal="I will not"), Answered.REFUSED),
        (lambda r, c: completion(""), Answered.BROKEN),
        (lambda r, c: completion('{"score": 12}'), Answered.BROKEN),
        (lambda r, c: completion("x" * 500_000), Answered.BROKEN),
        (lambda r, c: completion("x" * 5_000_000), Answered.UNREACHABLE),
    ],
)
def test_failures_leave_a_status_and_no_score(
    tmp_path: Path, behaviour: Any, status: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ChatServer(behaviour) as server:
        verdicts = judged(server, tmp_path, 2, AskOptions(retries=1, first_wait_s=0.01, concurrency=1))
    first = verdicts["p0", 0]
    assert first.status is status
    assert all(v.score is None and v.message for v in verdicts.values())
    assert KEY not in "".join(str(v) for v in verdicts.values())


def test_time_outs_are_failures(tmp_path: Path) -> None:
    async def hang(request: Request, count: int) -> Answer:
        await asyncio.sleep(5)
        return completion("{}")

    with ChatServer(hang) as server:
        verdicts = judged(server, tmp_path, 2, AskOptions(retries=0), timeout_s=0.2)
    assert statuses(verdicts) == {Answered.TIMED_OUT}


def test_nobody_listening_costs_a_status(tmp_path: Path) -> None:
    server = ChatServer()
    server.port = 1
    verdicts = judged(server, tmp_path, 60, AskOptions(retries=0, first_wait_s=0.01))
    assert statuses(verdicts) <= {Answered.UNREACHABLE, Answered.NOT_ASKED}
    assert Answered.NOT_ASKED in statuses(verdicts), "an endpoint that is gone is not asked on and on"


def test_broken_answers_are_asked_again_and_then_kept(tmp_path: Path) -> None:
    def second_time(request: Request, count: int) -> Answer:
        return honest(request, count) if request["seed"] == 1 else completion("mumble")

    with ChatServer(second_time) as server:
        assert statuses(judged(server, tmp_path, 3)) == {Answered.OK}
        assert len(server.requests) == 6
        judged(server, tmp_path, 3)
        assert len(server.requests) == 6, "what was answered is not asked again"
    with ChatServer(lambda r, c: completion("mumble")) as server:
        assert statuses(judged(server, tmp_path / "other", 3)) == {Answered.BROKEN}
        n_requests = len(server.requests)
        assert statuses(judged(server, tmp_path / "other", 3)) == {Answered.BROKEN}
        assert len(server.requests) == n_requests == 3 * (1 + FAST.more_answers)


def test_a_wrong_key_is_told_once_and_not_asked_on(tmp_path: Path) -> None:
    with ChatServer(lambda r, c: error(401, "wrong")) as server:
        verdicts = judged(server, tmp_path, 50, AskOptions(concurrency=2))
        assert len(server.requests) <= 2
    assert statuses(verdicts) == {Answered.REJECTED, Answered.NOT_ASKED}
    assert all("OPENAI_API_KEY" in (v.message or "") for v in verdicts.values())


def test_what_failed_without_an_answer_is_asked_again_later(tmp_path: Path) -> None:
    with ChatServer(lambda r, c: error(500)) as server:
        judged(server, tmp_path, 3, AskOptions(retries=0))
        server.behaviour = honest
        assert statuses(judged(server, tmp_path, 3)) == {Answered.OK}


def test_the_cost_limit_is_not_passed_where_max_tokens_is_kept(tmp_path: Path) -> None:
    # Each request costs exactly what its tokens say: 1000 × $10/M + 100 × $10/M = $0.011.
    with ChatServer(lambda r, c: completion('{"score": 5}', usage=(1000, 100)), delay_s=0.005) as server:
        options = AskOptions(max_cost_usd=0.2, concurrency=8)
        verdicts = judged(server, tmp_path, 60, options, input_usd=10, output_usd=10, max_tokens=200)
        spent = sum(v.spent_usd for v in verdicts.values())
        assert spent <= 0.2
        assert spent > 0.1, "the limit is used, not feared"
        assert statuses(verdicts) == {Answered.OK, Answered.NOT_ASKED}
        asked = sum(v.status is Answered.OK for v in verdicts.values())
        assert len(server.requests) == asked
        again = judged(server, tmp_path, 60, options, input_usd=10, output_usd=10, max_tokens=200)
        more = sum(v.status is Answered.OK for v in again.values())
        assert more > asked, "stored answers cost nothing, so the next run gets further"


def test_processes_of_one_session_share_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SESSION_VARIABLE, "together")
    with ChatServer(lambda r, c: completion('{"score": 5}', usage=(1000, 100))) as server:
        options = AskOptions(max_cost_usd=0.1)
        one = judged(server, tmp_path, 20, options, input_usd=10, output_usd=10, max_tokens=200)
        two = judged(server, tmp_path, 40, options, input_usd=10, output_usd=10, max_tokens=200)
    assert sum(v.spent_usd for v in (*one.values(), *two.values())) <= 0.1


def test_half_a_surrogate_pair_in_a_reply_ends_nothing(tmp_path: Path) -> None:
    """Once as the endpoint writes it, once as the model does; and it is there when it is asked again."""
    for text in ('{"errors": ["a\ud800"], "score": 5}', r'{"errors": ["a\ud800"], "score": 5}'):
        with ChatServer(lambda r, c, text=text: completion(text)) as server:
            for _ in range(2):
                verdicts = judged(server, tmp_path, 2)
                assert statuses(verdicts) == {Answered.OK}


def test_a_reply_without_usage_counts_as_the_worst(tmp_path: Path) -> None:
    with ChatServer(lambda r, c: completion('{"score": 5}', usage=None)) as server:
        options = AskOptions(max_cost_usd=0.05)
        verdicts = judged(server, tmp_path, 30, options, input_usd=10, output_usd=10, max_tokens=200)
    assert Answered.NOT_ASKED in statuses(verdicts)
    assert {v.cost_usd for v in verdicts.values() if v.status is Answered.OK} == {None}


def test_what_is_no_chat_reply_is_a_failure_of_the_endpoint_however_often_it_was_asked(
    tmp_path: Path,
) -> None:
    with ChatServer(lambda r, c: (200, {}, b"<html>Bad gateway</html>")) as server:
        verdicts = judged(server, tmp_path, 1, FAST)
        assert len(server.requests) == 1 + FAST.retries
        assert "Bad gateway" in (verdicts["p0", 0].message or "")
        # The budget ends after the first request.
        limited = AskOptions(max_cost_usd=0.003, first_wait_s=0.01, concurrency=1)
        once = judged(server, tmp_path, 1, limited, input_usd=1, output_usd=1, max_tokens=10)
        assert len(server.requests) == 2 + FAST.retries
        server.behaviour = honest
        assert statuses(judged(server, tmp_path, 1, FAST)) == {Answered.OK}, "the next run asks again"
    assert statuses(verdicts) == statuses(once) == {Answered.UNREACHABLE}


def test_an_unreadable_answer_is_broken_only_after_all_tries(tmp_path: Path) -> None:
    with ChatServer(lambda r, c: completion("mumble", usage=(2000, 10))) as server:
        spec = {"input_usd": 1, "output_usd": 1, "max_tokens": 10}
        limited = AskOptions(max_cost_usd=0.004, concurrency=1)
        assert statuses(judged(server, tmp_path, 1, limited, **spec)) == {Answered.NOT_ASKED}
        assert len(server.requests) < 1 + limited.more_answers
        assert statuses(judged(server, tmp_path, 1, FAST, **spec)) == {Answered.BROKEN}
        assert len(server.requests) == 1 + FAST.more_answers
        assert statuses(judged(server, tmp_path, 1, FAST, **spec)) == {Answered.BROKEN}
        assert len(server.requests) == 1 + FAST.more_answers, "the next run does not ask again"


def test_an_endpoint_that_charges_more_than_it_can_is_not_asked_on(tmp_path: Path) -> None:
    told: list[str] = []
    with (
        ChatServer(lambda r, c: completion('{"score": 5}', usage=(10**6, 10**6))) as server,
        AnswerStore(tmp_path / "answers.sqlite") as answers,
    ):
        judge = get_judge(server.spec(input_usd=1, output_usd=1))
        asker = Asker(answers, AskOptions(max_cost_usd=3, concurrency=2), tell=told.append)
        verdicts: list[PairVerdict] = []
        for pair in some_pairs(6):  # as a protocol asks, page by page
            judge_pairs([pair], [judge], asker, verdicts.append)
        assert len(server.requests) == 1, "$2 of $3, but the next one may cost anything"
        assert asker.over_limit_usd() == 0
        judge_pairs(
            some_pairs(6), [get_judge(server.spec(input_usd=2, output_usd=2))], asker, verdicts.append
        )
        assert asker.over_limit_usd() == pytest.approx(asker.spent_usd() - 3) and asker.spent_usd() >= 6
    assert [v.status for v in verdicts[:6]] == [Answered.OK] + [Answered.NOT_ASKED] * 5
    assert "max_tokens" in (verdicts[1].message or "")
    assert len(told) == 3 and f"Judges cost ${asker.spent_usd() - 3:.4f} more than" in told[2]


def test_a_pause_is_told_and_one_that_is_too_long_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for status, words in ((429, Answered.RATE_LIMITED), (503, Answered.UNREACHABLE)):
        with ChatServer(lambda r, c, s=status: error(s, "later", retry_after="86400")) as server:
            verdicts = judged(server, tmp_path, 8, AskOptions(concurrency=1))
            assert len(server.requests) == 1
        assert statuses(verdicts) == {words, Answered.NOT_ASKED}
        assert all("86,400 s" in (v.message or "") for v in verdicts.values())

    def limited(request: Request, count: int) -> Answer:
        return error(429, "slow down", retry_after="0.05") if count == 0 else honest(request, count)

    monkeypatch.setattr("parsemark.judges.ask.TOLD_WAIT_S", 0.05)
    told: list[str] = []
    with ChatServer(limited) as server, AnswerStore(tmp_path / "a.sqlite") as answers:
        asker = Asker(answers, AskOptions(concurrency=1), tell=told.append)
        judge_pairs(some_pairs(1), [get_judge(server.spec())], asker, lambda v: None)
    assert len(told) == 1 and "waiting" in told[0] and "slow down" in told[0]


@pytest.mark.parametrize("where", ["code", "type"])
def test_a_quota_that_is_used_up_is_not_waited_for(tmp_path: Path, where: str) -> None:
    body = json.dumps({"error": {"message": "You exceeded your current quota", where: "insufficient_quota"}})
    with ChatServer(lambda r, c: (429, {}, body.encode())) as server:
        verdicts = judged(server, tmp_path, 6, AskOptions(concurrency=1))
        assert len(server.requests) == 1
    assert statuses(verdicts) == {Answered.RATE_LIMITED, Answered.NOT_ASKED}
    assert all("quota" in (v.message or "") for v in verdicts.values())


def test_a_limit_needs_a_price(tmp_path: Path) -> None:
    with ChatServer() as server, pytest.raises(UsageError, match="input_usd"):
        judged(server, tmp_path, 3, AskOptions(max_cost_usd=1.0))


def test_the_key_is_sent_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    behaviours = [
        lambda r, c: completion(json.dumps({"errors": [f"key {KEY}"], "score": 5})),
        lambda r, c: error(400, f"Incorrect API key provided: {KEY}"),
        lambda r, c: error(500, f"Bearer {KEY}"),
        lambda r, c: (200, {}, KEY.encode()),
        lambda r, c: completion(None, refusal=f"no {KEY}"),
    ]
    for number, behaviour in enumerate(behaviours):
        with ChatServer(behaviour) as server:
            verdicts = judged(server, tmp_path / str(number), 2, AskOptions(retries=0))
            assert server.headers[0]["authorization"] == f"Bearer {KEY}"
            assert KEY not in json.dumps(server.requests)
        assert KEY not in "".join(map(str, verdicts.values()))
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes()
    with sqlite3.connect(tmp_path / "0" / "answers.sqlite") as db:
        import zlib

        kept = [
            zlib.decompress(b).decode()
            for row in db.execute("SELECT request, reply FROM replies")
            for b in row
        ]
    assert kept
    assert KEY not in "".join(kept)
    assert KEY not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "needs a model"),
        ("model=x,base_url=ftp://a", "http"),
        ("model=x,base_url=https://user:pw@host/v1", "environment"),
        ("model=x,base_url=https://host/v1?key=abc", "environment"),
        ("model=x,temprature=0", "no option"),
        ("model=x,prompt=best", "choose one of"),
        ("model=x,max_tokens=lots", "must be int"),
        ("model=x,input_usd=1", "both"),
    ],
)
def test_wrong_options_are_told(options: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        get_judge(f"openai({options})")
    assert "pw" not in str(caught.value).split() and "abc" not in str(caught.value)


def test_a_key_is_not_sent_in_plain_text_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("LAN_KEY", "lan")
    assert get_judge("openai(model=x,base_url=http://gpu.example/v1)")._key() is None  # type: ignore[attr-defined]
    named = get_judge("openai(model=x,base_url=http://gpu.example/v1,key_env=LAN_KEY)")
    assert named._key() == "lan"  # type: ignore[attr-defined]
    assert get_judge("openai(model=x)")._key() == KEY  # type: ignore[attr-defined]


def test_specs_parse_back() -> None:
    spec = "openai(base_url=http://127.0.0.1:8/v1,model=a/b,prompt=naive)"
    assert str(get_judge(spec)) == spec
    assert get_judge(str(get_judge(spec))) == get_judge(spec)


def test_published_prices_are_known() -> None:
    price = get_judge("openai(model=gpt-5-mini)").price  # type: ignore[attr-defined]
    assert price.input_usd > 0 and price.output_usd > price.input_usd
    assert get_judge("openai(model=gpt-5-mini,base_url=http://127.0.0.1:1/v1)").price is None  # type: ignore[attr-defined]


def test_a_file_that_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("this is text, and long enough to be looked at as a database" * 50)
    with pytest.raises(JudgeError, match=re.escape("a.sqlite")):
        AnswerStore(tmp_path / "a.sqlite")


_SCRIPT = """
import sys
from pathlib import Path
from parsemark.judges import *
from tests.judges.test_asking import some_pairs
with AnswerStore(Path(sys.argv[1])) as answers:
    asker = Asker(answers, AskOptions(concurrency=6))
    judge_pairs(some_pairs(120), [get_judge(sys.argv[2])], asker, lambda v: None)
"""


def test_a_killed_run_goes_on_and_repeats_no_answered_call(tmp_path: Path) -> None:
    store = tmp_path / "answers.sqlite"
    with ChatServer(delay_s=0.02) as server:
        for kill_after in (10, 35, 70):
            process = subprocess.Popen(
                [sys.executable, "-c", _SCRIPT, str(store), server.spec()],
                cwd=Path(__file__).parents[2],
                env=os.environ,
            )
            wait_until(lambda n=kill_after: len(server.requests) >= n)
            process.send_signal(signal.SIGKILL)
            process.wait()
        n_killed = len(server.requests)
        verdicts: list[PairVerdict] = []
        with AnswerStore(store) as answers:
            n_kept = sum(n for _, n, _ in answers.totals())
            judge_pairs(some_pairs(120), [get_judge(server.spec())], Asker(answers), verdicts.append)
        n_all = len(server.requests)
    # Only requests whose reply had not arrived when the process died are sent again: six each time at most.
    assert n_all - n_killed == 120 - n_kept
    assert n_killed - n_kept <= 3 * 6
    assert sum(v.stored for v in verdicts) == n_kept > 0
    assert {v.status for v in verdicts} == {Answered.OK}


def test_a_guided_model_can_answer_nothing_but_scores_and_short_errors(tmp_path: Path) -> None:
    with ChatServer() as server:
        judged(server, tmp_path, 1, output="guided")
        (form,) = (request["response_format"] for request in server.requests)
    properties = form["schema"]["properties"]
    assert form["type"] == "json_object"
    assert properties["score"] == {"enum": list(range(11))}
    assert properties["errors"]["items"] == {"type": "string", "maxLength": 200}
    assert list(properties) == ["errors", "score", "key"]  # errors are found before they are scored
