"""Workers that break the protocol, die, hang, hoard or leave children: each costs its page."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

from tests.engine.fakes import FakeParser, make_corpus
from tests.engine.test_publishing import GARBAGE
from tests.faults.common import Case
from tests.parsers.test_messages import GOOD, check_answer, mutated

from parsemark.engine.parsing.page_worker import PageLimits
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run
from parsemark.parsers.messages import ProtocolError, read_answer

N_ANSWERS = 10_000
BAD = [
    *("crash", "silent-exit", "garbage", "huge", "hang", "hang-with-child", "leak", "leak-in-child"),
    *(
        "leak-beyond-its-session",
        "kill-supervisor",
        "error",
        "error-string",
        "error-list",
        "wall-huge",
        "deep",
    ),
    *("long-error", "die-9", "die-11", "die-34", "die-35", "die-50", "die-63", "die-64"),
]
ODD_BUT_FINE = ["talkative", "nan", "cpu-huge", "crash-once", "fine"]
LIMITS = PageLimits(timeout_s=20, patience=1, memory_mb=300, max_answer_bytes=2**20)


def attack(work: Path) -> Iterator[Case]:
    behaviours = [*BAD, *(f"say:{json.dumps(output)}" for output in GARBAGE), *ODD_BUT_FINE]
    corpus = make_corpus(work / "corpus", behaviours)
    run = parse_corpus(work / "run", corpus, [FakeParser()], ParseOptions(limits=LIMITS, n_workers=2))
    score_run(run, n_workers=2)
    records = run.records()
    statuses = dict(run.table("predictions").select("sample", "status").iter_rows())
    for behaviour, record in zip(behaviours, records, strict=True):
        wanted = "ok" if behaviour in ODD_BUT_FINE else "failed"
        failed = record.status in ("parser_failed", "parser_timeout") and bool(record.error)
        held = (record.status == "ok") if wanted == "ok" else failed
        held = held and str(record.status) == statuses[record.sample]
        yield Case(behaviour[:40], held, f"{record.status}: {record.error}")
    time.sleep(0.5)
    for path in sorted((work / "corpus").glob("*.pid")):
        stat = Path(f"/proc/{path.read_text()}/stat")
        alive = stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
        yield Case(f"child of {path.stem} is gone", not alive)
    chosen = random.Random(41)
    for number in range(N_ANSWERS):
        line = mutated(GOOD, chosen)
        try:
            check_answer(read_answer(line, "1"))
        except ProtocolError:
            yield Case(f"answer {number}", True)
        except Exception as error:  # what is looked for
            yield Case(f"answer {number}", False, f"{error!r} on {line[:100]!r}")
        else:
            yield Case(f"answer {number}", True)
