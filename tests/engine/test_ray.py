"""The same plan on a real Ray cluster of two nodes, one of which dies."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.corpora.tagging import grid, write_tagged
from tests.engine.fakes import FakeParser, make_corpus
from tests.waiting import PATIENCE_S

from parsemark.corpora import load_corpus
from parsemark.engine.events import Events
from parsemark.engine.import_corpus import import_corpus
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring import score as scoring
from parsemark.parsers import get_parser
from parsemark.store import ParseRecord, Run

pytestmark = pytest.mark.ray

ECHO = Path(__file__).parents[1] / "cli" / "echo_parser.py"
MEASURED = ["wall_s", "cpu_s", "peak_memory_mb", "finished", "cached"]


# Nodes look for the tests where this process finds them; death is noticed soon; busy machines get time.
SETTINGS = {
    "PYTHONPATH": str(Path(__file__).parents[2]),
    "RAY_AUTH_MODE": "disabled",
    "RAY_agent_register_timeout_ms": "100000",
    "RAY_health_check_failure_threshold": "5",
    "RAY_health_check_period_ms": "1000",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARSEMARK_CACHE", str(tmp_path_factory.mktemp("cache")))
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        head = {"num_cpus": 1, "include_dashboard": False}
        started = patiently(lambda: cluster_utils.Cluster(initialize_head=True, head_node_args=head))
        try:
            yield started
        finally:
            started.shutdown()


def patiently(start: Callable[[], object], tries: int = 8) -> object:
    """Ray gives a node 30 s to start and its agents 15, which a busy machine may exceed more than once."""
    for _ in range(tries - 1):
        try:
            return start()
        except Exception as error:  # Ray raises no class of its own here
            if "timed out during startup" not in str(error):
                raise
    return start()


def parse(out: Path, folder: Path, events: Events | None = None, **options: object) -> Run:
    corpus = make_corpus(folder, ["fine"] * 19 + ["bad"])
    parsers = [get_parser(f"{ECHO}(speed=slow)")]
    return parse_corpus(out, corpus, parsers, ParseOptions(**options), events)


class KillsNode(Events):
    """Ends a node once a few pages are done, while others are under way."""

    def __init__(self, cluster: object, node: object) -> None:
        self.cluster, self.node, self.n_done = cluster, node, 0
        self.killer: threading.Thread | None = None

    def parsed(self, record: ParseRecord) -> None:
        self.n_done += 1
        if self.n_done == 4:
            self.killer = threading.Thread(target=self.cluster.remove_node, args=(self.node, False))
            self.killer.start()


def test_death_of_a_node_changes_nothing(cluster: object, tmp_path: Path) -> None:
    node = patiently(lambda: cluster.add_node(num_cpus=2))
    cluster.wait_for_nodes(timeout=PATIENCE_S)
    local = parse(tmp_path / "local", tmp_path / "corpus", n_workers=2)
    events = KillsNode(cluster, node)
    remote = parse(
        tmp_path / "ray", tmp_path / "corpus", events, executor="ray", address=cluster.address, n_workers=3
    )
    assert events.killer is not None, "the node was never ended"
    events.killer.join()
    one, other = (run.table("parses").drop(MEASURED) for run in (local, remote))
    assert one.height == 20 and one.equals(other)
    assert set(one["status"]) == {"ok", "parser_failed"}
    assert remote.manifest.parsers[0].fingerprint == local.manifest.parsers[0].fingerprint


class KillsNodeInScoring(KillsNode):
    """Ends a node once some chunks are scored, while others are under way."""

    def scored(self, n_pages: int = 1) -> None:
        self.n_done += n_pages
        if self.n_done >= 4 and self.killer is None:
            self.killer = threading.Thread(target=self.cluster.remove_node, args=(self.node, False))
            self.killer.start()


def test_death_of_a_node_in_mid_scoring_changes_nothing(
    cluster: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "_MIN_CHUNK_OUTPUTS", 1)
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 30 + ["error"])
    parsers = [FakeParser("one", fingerprint="1"), FakeParser("two", fingerprint="2")]
    local = parse_corpus(tmp_path / "local", corpus, parsers, ParseOptions())
    shutil.copytree(local.path, tmp_path / "ray")
    remote = Run.open(tmp_path / "ray")
    scoring.score_run(local, n_workers=1)
    node = patiently(lambda: cluster.add_node(num_cpus=2))
    cluster.wait_for_nodes(timeout=PATIENCE_S)
    events = KillsNodeInScoring(cluster, node)
    scoring.score_run(remote, executor="ray", address=cluster.address, n_workers=3, events=events)
    assert events.killer is not None, "the node was never ended"
    events.killer.join()
    for table in ("predictions", "matches", "scores"):
        assert remote.table(table).height > 0 and remote.table(table).equals(local.table(table)), table
    assert remote.summary() == local.summary()
    assert "metric_failed" not in set(remote.table("predictions")["status"])


def test_parser_that_cannot_start_is_told(cluster: object, tmp_path: Path) -> None:
    script = tmp_path / "broken_parser.py"
    script.write_text("# /// script\n# dependencies = []\n# ///\nimport no_such_module\n")
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 2)
    options = ParseOptions(executor="ray", address=cluster.address)
    run = parse_corpus(tmp_path / "run", corpus, [get_parser(str(script))], options)
    assert run.table("parses")["status"].to_list() == ["parser_failed"] * 2
    assert all("no_such_module" in error for error in run.table("parses")["error"])


def test_import_of_embedded_truth(cluster, tmp_path: Path) -> None:
    texts, table = grid([["Name", "One"], ["alpha", "1"]])
    (tmp_path / "in").mkdir()
    for name in ("a.pdf", "b.pdf"):
        write_tagged(tmp_path / "in" / name, [texts], [table])
    found = import_corpus(tmp_path / "in", tmp_path / "out", executor="ray", address=cluster.address)
    assert found["documents"] == {"imported": 2} and len(load_corpus(str(tmp_path / "out"))) == 2
