"""What a worker writes is bounded: each file, all that lies in its folder, and files without a name.

A worker that is only tried has the same limits.
"""

from pathlib import Path

import pytest
from tests.engine.fakes import make_corpus
from tests.parsers.pages import write_page

from parsemark.engine.parsing.page_worker import PageLimits
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.errors import ParserError
from parsemark.model import Status
from parsemark.parsers import Parser, get_parser
from parsemark.parsers.trial import try_parser
from parsemark.system.processes import why_not_confined

SCRIPT = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# gives = ["text"]
# ///
import os, time
from parsemark_worker import serve, text_output

BLOCK = b"x" * 2**20

def parse(pdf, page, options):
    n_files, n_mb, unlinked = {what}
    held = [] if n_files else [b"x" * (n_mb * 2**20)]
    for number in range(n_files):
        held.append(open(os.path.join(os.environ["TMPDIR"], str(number)), "wb", buffering=0))
        if unlinked:
            os.unlink(held[-1].name)
        for _ in range(n_mb):
            if held[-1].write(BLOCK) < len(BLOCK):
                raise OSError("the file is full")
    if {waits}:
        time.sleep(600)
    return text_output("text", "done")

serve(parse)
"""


def writer(folder: Path, what: tuple[int, int, bool], *, waits: bool) -> Parser:
    script = folder / "scripts" / "writer.py"
    script.parent.mkdir()
    script.write_text(SCRIPT.format(what=what, waits=waits))
    return get_parser(str(script))


def parsed(folder: Path, what: tuple[int, int, bool], *, waits: bool) -> tuple[Status, str | None]:
    corpus = make_corpus(folder / "corpus", ["fine"])
    options = ParseOptions(limits=PageLimits(disk_mb=40))
    parser = writer(folder, what, waits=waits)
    (record,) = parse_corpus(folder / "run", corpus, [parser], options).records()
    return record.status, record.error


@pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")
@pytest.mark.parametrize("unlinked", [False, True])
def test_a_worker_that_fills_the_disk_is_ended(tmp_path: Path, unlinked: bool) -> None:
    status, error = parsed(tmp_path, (3, 20, unlinked), waits=True)
    assert status is Status.PARSER_FAILED
    assert error == "The worker wrote more than 40 MB to its folder and was ended."


@pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")
def test_no_file_is_larger_than_all_may_be(tmp_path: Path) -> None:
    status, error = parsed(tmp_path, (1, 60, False), waits=False)
    assert status is Status.PARSER_FAILED and error is not None
    assert "File too large" in error or "full" in error or "wrote more" in error


def test_what_is_within_the_limit_is_no_failure(tmp_path: Path) -> None:
    assert parsed(tmp_path, (2, 5, False), waits=False) == (Status.OK, None)


@pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")
@pytest.mark.parametrize(
    ("what", "why"),
    [
        ((3, 20, False), "wrote more than 40 MB to its folder"),
        ((0, 300, False), "used more than 200 MB of memory"),
    ],
)
def test_a_worker_that_is_tried_has_limits_too(tmp_path: Path, what: tuple[int, int, bool], why: str) -> None:
    pdf = write_page(tmp_path / "page.pdf")
    with pytest.raises(ParserError, match=f"The worker {why} and was ended"):
        try_parser(writer(tmp_path, what, waits=True), pdf, memory_mb=200, disk_mb=40)
