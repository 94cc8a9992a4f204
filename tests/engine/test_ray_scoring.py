"""The driver's side of scoring on Ray, with a simulated cluster whose nodes die when they are told to."""

from __future__ import annotations

import itertools
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.engine import cluster
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring import score as scoring
from parsemark.engine.scoring.chunk import PackedChunk, score_packed
from parsemark.errors import StoreError
from parsemark.store import Run


class FakeRayError(Exception):
    pass


class ActorError(FakeRayError):
    pass


class ObjectLostError(FakeRayError):
    pass


class FakeActor:
    """An actor that is lost with its `dies_at`-th answer."""

    def __init__(self, instance: Any, dies_at: int | None) -> None:
        self.instance, self.dies_at, self.n_answers, self.dead = instance, dies_at, 0, False

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *arguments: FakeRef(self, name, arguments))

    def answer(self, name: str, arguments: tuple[Any, ...]) -> Any:
        self.n_answers += 1
        if self.dead or self.n_answers == self.dies_at:
            self.dead = True
            raise ActorError("its node died")
        return getattr(self.instance, name)(*arguments)


class FakeRef:
    def __init__(self, actor: FakeActor, name: str, arguments: tuple[Any, ...]) -> None:
        self.actor, self.name, self.arguments = actor, name, arguments


class FakeRay:
    """As much of Ray as the driver uses. Results come in an order of the cluster's own."""

    exceptions = SimpleNamespace(
        RayError=FakeRayError, RayActorError=ActorError, ObjectLostError=ObjectLostError
    )

    def __init__(self, deaths: list[int | None], cpus: int) -> None:
        self.deaths, self.cpus, self.started, self.turn = iter(deaths), cpus, 0, itertools.count()
        self.most_under_way = 0

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cpus)}

    def remote(self, **_: Any) -> Callable[[type], Any]:
        def wrap(kind: type) -> Any:
            def start(*arguments: Any) -> FakeActor:
                self.started += 1
                return FakeActor(kind(*arguments), next(self.deaths, None))

            return SimpleNamespace(remote=start)

        return wrap

    def wait(self, refs: list[FakeRef], num_returns: int) -> tuple[list[FakeRef], list[FakeRef]]:
        self.most_under_way = max(self.most_under_way, len(refs))
        ready = refs[next(self.turn) % len(refs)]
        return [ready], [ref for ref in refs if ref is not ready]

    def get(self, ref: FakeRef) -> Any:
        return ref.actor.answer(ref.name, ref.arguments)

    def kill(self, actor: FakeActor) -> None:
        actor.dead = True


class Inline:
    """Scores in this process; page s001 of parser `two` never comes back."""

    def __init__(self, function: Any, timeout_s: float, memory_mb: int) -> None:
        assert function is score_packed and timeout_s > 0 and memory_mb > 0

    def ready(self) -> bool:
        return True

    def do(self, packed: PackedChunk) -> tuple[list[bytes] | None, str | None]:
        for page in packed.chunk.pages:
            if page.sample == "s001" and page.lost is None and any(o.parser == "two" for o in page.outputs):
                return None, "took more than 120 s"
        return score_packed(packed), None


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ray")
    corpus = make_corpus(folder / "corpus", ["fine"] * 5 + ["error"])
    parsers = [FakeParser("one", fingerprint="1"), FakeParser("two", fingerprint="2")]
    return parse_corpus(folder / "run", corpus, parsers, ParseOptions()).path


def scored(
    parsed: Path, out: Path, monkeypatch: pytest.MonkeyPatch, deaths: list[int | None], cpus: int = 3
) -> tuple[Run, FakeRay]:
    fake = FakeRay(deaths, cpus)
    monkeypatch.setitem(sys.modules, "ray", fake)  # type: ignore[arg-type]
    monkeypatch.setattr(cluster, "_PoolActor", Inline)
    monkeypatch.setattr(scoring, "_MIN_CHUNK_OUTPUTS", 1)
    shutil.copytree(parsed, out)
    run = Run.open(out)
    scoring.score_run(run, executor="ray")
    return run, fake


@pytest.mark.parametrize(
    "deaths",
    [
        [],
        [2],  # one node is lost with its first chunk
        [1, 1],  # two never start
        [3, 2, 4],  # all are lost, one after the other; others are started
        [1] * 9,  # none starts for a while
    ],
)
def test_lost_nodes_change_nothing(
    parsed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaths: list[int | None]
) -> None:
    quiet, _ = scored(parsed, tmp_path / "quiet", monkeypatch, [])
    run, fake = scored(parsed, tmp_path / "run", monkeypatch, deaths)
    for table in ("predictions", "matches", "scores"):
        assert run.table(table).height > 0 and run.table(table).equals(quiet.table(table)), table
    assert run.summary() == quiet.summary()
    predictions = {(r["sample"], r["parser"]): r for r in run.table("predictions").iter_rows(named=True)}
    assert len(predictions) == 12
    failed = [key for key, row in predictions.items() if row["status"] == "metric_failed"]
    assert failed == [("s001", "two")], "a page that hangs costs itself, and a lost node costs no page"
    assert fake.most_under_way <= 3 * cluster.AHEAD + 3, "the driver holds what is under way, and no more"


def test_the_number_of_actors_is_bounded(
    parsed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, fake = scored(parsed, tmp_path / "run", monkeypatch, [], cpus=2)
    assert fake.started == 2


def test_a_cluster_that_loses_every_actor_ends_with_a_reason(
    parsed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match="Ray actors were lost"):
        scored(parsed, tmp_path / "run", monkeypatch, [2] * 400, cpus=1)
