"""`parsemark try` of hostile files and scripts: an error in words, a clean terminal, no process left."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator
from pathlib import Path

from tests.faults.common import Budget, Case, living, new_mark, parsemark
from tests.faults.kills import within
from tests.parsers.pages import write_page

SECRET = "sk-secret-of-the-user"
SCRIPT = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# gives = ["markdown"]
# variables = ["MY_TRIED_KEY"]
# ///
import os, subprocess, sys, time
from parsemark_worker import serve, text_output

KEY = os.environ["MY_TRIED_KEY"]

def parse(pdf, page, options):
    {behaviour}

serve(parse)
"""
BEHAVIOURS = {
    "answers": 'return text_output("markdown", "| a | b |\\n|---|---|\\n| 1 | 2 |\\n")',
    "controls the terminal": 'return text_output("markdown", "| \\x1b]0;x\\x07 | b |\\n|---|---|\\n")',
    "complains in controls": 'print("\\x1b[2J", file=sys.stderr); raise ValueError("\\x1b[31m\\u202e")',
    "tells its key": "print(KEY, file=sys.stderr); raise ValueError(KEY)",
    "answers with its key": 'return text_output("markdown", KEY)',
    "prints among answers": 'print("{"); os.write(1, b"garbage\\n"); return text_output("markdown", "x")',
    "dies": "os.abort()",
    "ends": "os._exit(0)",
    "hangs": "time.sleep(600)",
    "leaves a child": 'subprocess.Popen(["sleep", "98765"], start_new_session=True); os._exit(1)',
    "recurses": "return parse(pdf, page, options)",
    "returns nothing": "return None",
    "returns megabytes": 'return text_output("markdown", "x" * 200_000_000)',
    "nests deeply": 'return text_output("markdown", "<table><tr><td>" * 20_000)',
}
SYNTAX = {"no script": "\0\1\2", "no header": "print(1)", "a wrong header": "# /// script\n# x = [\n# ///\n"}


def attack(work: Path) -> Iterator[Case]:
    os.environ["MY_TRIED_KEY"] = SECRET
    page, budget = write_page(work / "page.pdf"), Budget(1 / 20)
    sound = _script(work, "sound", BEHAVIOURS["answers"])
    for name, behaviour in BEHAVIOURS.items():
        script = _script(work, name.replace(" ", "_"), behaviour)
        yield _tried(work, f"a script that {name}", page, script, fails=None)
    for name, text in SYNTAX.items():
        script = work / "bad.py"
        script.write_text(text)
        yield _tried(work, name, page, script, fails=True)
    for path, is_page in _odd_files(work).items():
        yield _tried(work, f"a file: {path.name!r}", path, sound, fails=not is_page)
    chosen, whole = random.Random(7), page.read_bytes()
    for number in range(20 * budget.nights):
        damaged = bytearray(whole)
        for _ in range(chosen.randint(1, 40)):
            damaged[chosen.randrange(len(damaged))] = chosen.randrange(256)
        path = work / "damaged.pdf"
        path.write_bytes(damaged[: chosen.choice((len(damaged), chosen.randrange(len(damaged))))])
        yield _tried(work, f"damaged page {number}", path, sound, fails=None)
        if budget.is_spent:
            return


def _script(work: Path, name: str, behaviour: str) -> Path:
    script = work / f"{name}.py"
    script.write_text(SCRIPT.replace("{behaviour}", behaviour))
    return script


def _odd_files(work: Path) -> dict[Path, bool]:
    """Files that are no PDF, have odd names, or are no files; and whether each is a page after all."""
    folder = work / "odd"
    folder.mkdir()
    (folder / "broken link").symlink_to(folder / "nowhere")
    found = dict.fromkeys((folder, folder / "absent.pdf", folder / "broken link"), False)
    contents = {"empty.pdf": b"", "text.pdf": b"not a PDF", "head.pdf": b"%PDF-1.7\n", "a.docx": b"PK\3\4"}
    names = ["-p.pdf", "a\nb.pdf", "\x1b[31m.pdf", "a b'\".pdf", "{x}%s.pdf", "\u202efdp.pdf"]
    for name, content in {**contents, **dict.fromkeys(names, (work / "page.pdf").read_bytes())}.items():
        (folder / name).write_bytes(content)
        found[folder / name] = name in names
    return found


def _tried(work: Path, name: str, file: Path, script: Path, *, fails: bool | None) -> Case:
    """One attempt; `fails`: whether it must, None where either may be."""
    mark = new_mark()
    given = ("--parser", str(script), "--pages", "1-1", "--timeout-s", "5", "--no-browser")
    done = parsemark(work, "try", *given, "--out", str(work / "tried"), "--", str(file), mark=mark)
    said = done.output
    promises = {
        "ends in words": done.is_clean or (script.stem in BEHAVIOURS_THAT_RAISE and 0 <= done.code <= 2),
        "fails": fails is None or fails == (done.code != 0),
        "a clean terminal": not {"\x1b", "\x07", "\u202e", "\0"} & set(said),
        "no key": SECRET not in said,
        "no process left": within(lambda: not living(mark) and not _sleeping()),
    }
    broken = [promise for promise, held in promises.items() if not held]
    return Case(f"try {name}", not broken, f"{broken} {done.code} {said[-300:]!r}" if broken else "")


def _sleeping() -> bool:
    """Return whether a child that a script has left still runs."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if file.read_bytes() == b"sleep\098765\0":
                return True
    return False


BEHAVIOURS_THAT_RAISE = frozenset({"complains_in_controls", "tells_its_key", "recurses", "returns_nothing"})
"""Of these the traceback of the script is printed, as promised."""
