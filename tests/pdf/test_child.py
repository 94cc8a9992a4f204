"""PDFs are opened in a process of their own: what one does there costs its own call."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.pdf import hostile
from tests.waiting import wait_until

from parsemark import pdf
from parsemark.corpora import load_corpus
from parsemark.errors import PdfError
from parsemark.pdf.document import open_document


@pytest.fixture(scope="module")
def page() -> Path:
    found = next(load_corpus("demo").samples()).pdf
    assert found is not None
    return found


def test_pages_are_drawn_by_many_threads_at_once(page: Path) -> None:
    alone = pdf.render_page(page, 1, 60).tobytes()
    text = pdf.page_text(page, 1)

    def read(number: int) -> bool:
        if number % 2:
            return pdf.render_page(page, 1, 60).tobytes() == alone
        return pdf.page_text(page, 1) == text

    with ThreadPoolExecutor(24) as pool:
        assert all(pool.map(read, range(96)))


@pytest.mark.parametrize("make", [hostile.form_in_itself, hostile.flate_bomb])
def test_a_small_pdf_that_needs_all_memory(make: object, page: Path, tmp_path: Path) -> None:
    bomb = make(tmp_path / "bomb.pdf")  # type: ignore[operator]
    assert bomb.stat().st_size < 100_000
    assert pdf.count_pages(bomb) == 1
    assert pdf.page_shapes(bomb)[0].width == 200, "sizes are known without reading what is on a page"
    with pytest.raises(PdfError, match=r"bomb\.pdf cannot be read: .*1,536 MB of memory"):
        pdf.page_text(bomb, 1)
    assert pdf.page_text(page, 1)
    before = hostile.pid(page)
    with pytest.raises(PdfError, match=r"bomb\.pdf"):
        pdf.render_page(bomb, 1, 72)
    assert hostile.pid(page) == before, "what has ended a child is not tried again"


@pytest.mark.parametrize(
    ("attack", "says"),
    [
        (hostile.crash, "by signal SIGABRT"),
        (hostile.spin, "too much CPU time"),
        (hostile.hoard, "in 1,536 MB of memory"),
        (hostile.stranger, "its answer cannot be read"),
    ],
)
def test_whatever_happens_to_the_child_is_an_error_of_that_call(
    attack: object, says: str, page: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim.pdf"
    victim.write_bytes(page.read_bytes())
    before = hostile.pid(victim)
    with pytest.raises(PdfError, match=says) as caught:
        attack(victim)  # type: ignore[operator]
    assert "victim.pdf" in str(caught.value)
    assert pdf.count_pages(victim) == pdf.count_pages(page)
    assert [file.name for file in tmp_path.iterdir()] == ["victim.pdf"]
    assert (hostile.pid(victim) == before) == (attack is hostile.hoard)


def test_a_child_that_others_have_ended_is_replaced(page: Path) -> None:
    os.kill(hostile.pid(page), signal.SIGKILL)
    assert pdf.page_text(page, 1)


def test_a_changed_file_is_read_again(page: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.pdf"
    pdf.extract_page(page, 1, own)
    assert pdf.count_pages(own) == 1
    own.write_bytes(page.read_bytes())
    assert pdf.count_pages(own) == 2
    pdf.page_text(own, 1)
    own.unlink()
    with pytest.raises(PdfError, match=r"own\.pdf"):
        pdf.page_text(own, 1)


def test_relative_paths_stay_so_in_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.pdf").write_bytes(b"nothing")
    with pytest.raises(PdfError, match=r"^broken\.pdf cannot be opened as a PDF"):
        pdf.count_pages(Path("broken.pdf"))


def _pid_there(page: Path, answers: multiprocessing.Queue[int]) -> None:
    answers.put(hostile.pid(page))


def test_a_forked_process_starts_its_own(page: Path) -> None:
    ours = hostile.pid(page)
    context = multiprocessing.get_context("fork")
    answers: multiprocessing.Queue[int] = context.Queue()
    forked = context.Process(target=_pid_there, args=(page, answers))
    forked.start()
    assert answers.get(timeout=60) != ours
    forked.join()
    assert hostile.pid(page) == ours


def test_the_child_ends_when_its_parent_is_killed_in_the_midst_of_a_call(page: Path) -> None:
    code = (
        "import threading, sys; from pathlib import Path; from tests.pdf import hostile\n"
        "page = Path(sys.argv[1]); print(hostile.pid(page), flush=True); hostile.sleep(page)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(page)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not Path(f"/proc/{child}").exists())


def test_nothing_opens_pdfs_in_our_own_process(page: Path) -> None:
    with pytest.raises(AssertionError, match="in_child"), open_document(page):
        pass
    code = "import sys, parsemark.pdf; assert 'pypdfium2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ctrl_c_at_the_very_end_prints_no_traceback(page: Path) -> None:
    script = (
        "import sys; from parsemark import pdf; from parsemark.pdf import child\n"
        "pdf.count_pages(__import__('pathlib').Path(sys.argv[1]))\n"
        "def interrupted(self): raise KeyboardInterrupt\n"
        "child._Child.end = interrupted\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(page)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
