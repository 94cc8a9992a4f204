"""Compile untrusted LaTeX: no shell, no files but its own, bounded time, memory and output.

Three walls, each of which holds alone against most of what a source can try: pdfTeX's own settings
(`-no-shell-escape`, `openin_any=p`, `openout_any=p`, no font-making scripts), resource limits and Landlock
(`confinement.py`), and a watcher that ends the whole tree of processes on time or size. What the log says
was embedded is checked as well, for systems without Landlock.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from parsemark.errors import LatexError, MissingDependencyError
from parsemark.system import cache_folder
from parsemark.system.confinement import landlock_version
from parsemark.system.processes import Confinement, Supervised, end_supervised

APT_PACKAGES = (
    "texlive-latex-base texlive-latex-recommended texlive-latex-extra texlive-fonts-recommended "
    "texlive-science texlive-plain-generic texlive-pictures texlive-lang-french lmodern cm-super"
)
SOURCE_DATE_EPOCH = "1735689600"  # 2025-01-01, so that equal sources give equal PDFs
REPRODUCIBLE = r"\pdfinfoomitdate=1\pdftrailerid{}"
MAX_LOG_BYTES = 32 * 2**20

_PROGRAM_PACKAGES = {"xelatex": "texlive-xetex", "lualatex": "texlive-luatex", "biber": "biber"}
_EMBEDDED = re.compile(r"<<((?:/|\.\.|~)[^<>\n]*)>>")


@dataclass(frozen=True, slots=True)
class CompileLimits:
    """What one run of pdflatex may use."""

    cpu_s: int = 60
    wall_s: float = 180.0
    memory_mb: int = 1024
    output_mb: int = 64


MOST_EXTRA_WORDS = 50_000_000
"""What TeX's main memory may grow by at each of its ends, beyond the five million words that it is installed
with; a word has eight bytes, and what is not used costs nothing."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of a compilation."""

    ok: bool
    pdf: Path | None  # None if no page was made
    log: str
    cpu_s: float
    reason: str | None = None  # why it is not ok: TeX's first error, or the limit that was reached


def compile_latex(
    source: str,  # may `\input` what lies in the folder
    folder: Path,
    *,
    name: str = "job",  # of the source file
    job: str | None = None,  # name of the files that it writes; that of the source if not given
    engine: str = "pdflatex",  # `pdflatex`, `xelatex` or `lualatex`
    root: Path | None = None,  # all that it may read (besides TeX's own) and write: `folder`, or one above
    format: Path | None = None,  # made by `precompiled`; the source then starts after its preamble
    passes: int = 1,  # how often to compile (tables of contents, long tables)
    draft: bool = False,  # make no PDF; only the log is wanted
    halt_on_error: bool = True,  # or go on as well as TeX can
    limits: CompileLimits | None = None,  # of each pass
) -> Compiled:
    """Write `source` to `folder/name.tex` and compile it. Failing is no exception: batches go on."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    job = job or name
    begin = "" if format is None else "\\endofdump\n"
    (folder / f"{name}.tex").write_text(begin + source, encoding="utf-8")
    arguments = ["-interaction=batchmode", f"-jobname={job}"]
    arguments += ["-halt-on-error"] if halt_on_error else []
    if draft:
        arguments += ["-no-pdf" if engine == "xelatex" else "-draftmode"]
    arguments += [f"-fmt={format.stem}"] if format is not None else []
    cpu_s = 0.0
    for _ in range(passes):
        command = [*arguments, f"{name}.tex"]
        result = _run(command, folder, job, limits or CompileLimits(), format, engine=engine, root=root)
        cpu_s += result.cpu_s
        if not result.ok:
            break
    return Compiled(result.ok, result.pdf, result.log, cpu_s, result.reason)


def precompiled(preamble: str, cache: Path | None = None) -> Path:
    """Return the format file of a preamble, made once and kept in the cache folder (saves 0.3 to 0.6 s per
    run).
    """
    identity = hashlib.sha256(f"{_pdflatex_version()}\n{preamble}".encode()).hexdigest()[:24]
    folder = (cache or cache_folder("latex")) / identity
    done = folder / f"pm{identity}.fmt"
    if done.is_file():
        return done
    work = folder / f"making-{os.getpid()}"
    work.mkdir(parents=True, exist_ok=True)
    (work / "preamble.tex").write_text(f"{preamble}\n\\endofdump\n", encoding="utf-8")
    arguments = ["-ini", "-interaction=batchmode", "-halt-on-error", f"-jobname={done.stem}"]
    arguments += ["&pdflatex", "mylatexformat.ltx", "preamble.tex"]
    result = _run(arguments, work, done.stem, CompileLimits(), None)
    made = work / done.name
    if not made.is_file():
        raise LatexError(f"The preamble cannot be precompiled: {result.reason or result.log[-500:]}")
    made.replace(done)
    shutil.rmtree(work, ignore_errors=True)
    return done


def require_pdflatex(needed_for: str) -> str:
    """Return the path of pdflatex, or the error that says how to install it."""
    return require_program("pdflatex", needed_for)


def require_program(name: str, needed_for: str) -> str:
    """Return the path of one of TeX's programs, or the error that says how to install it."""
    found = shutil.which(name)
    if found is None:
        packages = _PROGRAM_PACKAGES.get(name, APT_PACKAGES)
        raise MissingDependencyError(name, needed_for, f"apt-get install --no-install-recommends {packages}")
    return found


@dataclass(frozen=True, slots=True)
class Ran:
    """How a confined program ended."""

    code: int
    cpu_s: float
    exceeded: str | None  # the limit that was reached


def run_confined(
    command: Sequence[str],
    folder: Path,
    limits: CompileLimits,
    *,
    root: Path | None = None,
    format: Path | None = None,
) -> Ran:
    """Run one of TeX's programs in a folder; what it prints is lost."""
    root = (root or folder).resolve()
    rights = Confinement(
        cpu_s=limits.cpu_s,
        memory_mb=limits.memory_mb,
        file_mb=limits.output_mb,
        read=(*_readable(), *([str(format.parent)] if format else [])),
        write=(str(root), "/dev/null"),
    )
    above = root != folder.resolve() and bool(landlock_version())
    environment = _environment(root, format, reads_above=above)
    words = str(min(MOST_EXTRA_WORDS, limits.memory_mb * 2**20 // 64))  # an eighth of the limit
    environment |= {"extra_mem_top": words, "extra_mem_bot": words}
    running = Supervised(
        command,
        env=environment,
        cwd=str(folder),
        confinement=rights,
        streams=(subprocess.DEVNULL,) * 3,
    )
    try:
        running.begin()
        return _watch(running.process, root, limits)
    finally:
        running.close()


def _run(
    arguments: list[str],
    folder: Path,
    name: str,
    limits: CompileLimits,
    format: Path | None,
    *,
    engine: str = "pdflatex",
    root: Path | None = None,
) -> Compiled:
    program = require_program(engine, "Compiling LaTeX")
    pdf, log = folder / f"{name}.pdf", folder / f"{name}.log"
    for old in (pdf, log):
        old.unlink(missing_ok=True)
    ran = run_confined([program, "-no-shell-escape", *arguments], folder, limits, root=root, format=format)
    text = ""
    if log.is_file():
        with log.open("rb") as file:
            text = file.read(MAX_LOG_BYTES).decode("utf-8", errors="replace")
    leak = _leak(text, (root or folder).resolve())
    reason = ran.exceeded or _reason(ran.code, text, limits, engine) or leak
    is_whole = ran.exceeded is None and ran.code >= 0
    made = pdf if pdf.is_file() and leak is None and is_whole else None
    return Compiled(reason is None, made, text, ran.cpu_s, reason)


def _watch(process: subprocess.Popen[bytes], folder: Path, limits: CompileLimits) -> Ran:
    """Wait for the end; end it with all that it has started when time or size run out."""
    started = time.monotonic()
    exceeded: str | None = None
    pause, next_look = 0.005, 0.5
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return Ran(process.returncode, usage.ru_utime + usage.ru_stime, exceeded)
        elapsed = time.monotonic() - started
        if exceeded is None and elapsed > limits.wall_s:
            exceeded = f"took longer than {limits.wall_s:g} s"
        elif exceeded is None and elapsed > next_look:
            next_look = elapsed + 0.5
            if _size(folder) > 4 * limits.output_mb * 2**20:
                exceeded = f"wrote more than {4 * limits.output_mb} MB"
        if exceeded is not None:
            end_supervised(process.pid)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def _size(folder: Path) -> int:
    total = 0
    for entry in folder.rglob("*"):
        try:
            total += entry.lstat().st_size
        except FileNotFoundError:
            continue
    return total


def _environment(folder: Path, format: Path | None, *, reads_above: bool = False) -> dict[str, str]:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        # TeX's own rule forbids every `..`, also inside of the document; the kernel's is exact.
        "openin_any": "a" if reads_above else "p",
        "openout_any": "p",
        "shell_escape": "f",
        **dict.fromkeys(("MKTEXTFM", "MKTEXPK", "MKTEXMF"), "0"),
        "TEXMFHOME": str(folder / "texmf"),
        "TEXMFVAR": str(folder / "texmf-var"),
        "TEXMFCONFIG": str(folder / "texmf-config"),
        "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH,
        "FORCE_SOURCE_DATE": "1",
        "max_print_line": "1000",
        "error_line": "254",
        "half_error_line": "238",
    }
    if format is not None:
        environment["TEXFORMATS"] = f"{format.parent}:"
    return environment


FONTS_EXTRA = "make system FONTS_EXTRA=1"  # the half gigabyte of fonts that one paper in five wants


def has_tex_file(name: str) -> bool:
    """Return whether TeX is installed, and finds a file of this name."""
    program = shutil.which("kpsewhich")
    if program is None:
        return False
    return subprocess.run([program, name], capture_output=True, check=False, timeout=30).returncode == 0


@lru_cache(maxsize=1)
def _readable() -> tuple[str, ...]:
    """Return where TeX and its programs lie; nothing of the user's."""
    program = Path(require_pdflatex("Compiling LaTeX")).resolve()
    trees = _printed("kpsewhich", "--expand-braces=$TEXMF")
    folders = {tree.lstrip("!") for tree in trees.split(":") if tree.lstrip("!").startswith("/")}
    home = str(Path.home())
    folders = {f for f in folders if not f.startswith(f"{home}/.") and f != home}
    system = (
        *("/usr", "/lib", "/lib64", "/bin", "/etc/texmf", "/etc/fonts", "/var/cache/fontconfig"),
        *("/etc/perl", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom"),
    )
    return (*sorted(folders), str(program.parent), *system)


@lru_cache(maxsize=1)
def _pdflatex_version() -> str:
    return _printed(require_pdflatex("Compiling LaTeX"), "--version").partition("\n")[0]


def _printed(program: str, argument: str) -> str:
    """Return the output of one of TeX's small programs."""
    try:
        asked = subprocess.run([program, argument], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        raise LatexError(f"The TeX installation is incomplete: {program} does not run ({error}).") from error
    return asked.stdout.strip()


def _reason(code: int, log: str, limits: CompileLimits, engine: str) -> str | None:
    if code == 0:
        return None
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"used more than {limits.cpu_s} s of CPU time"
    if code == -signal.SIGXFSZ:
        return f"wrote a file of more than {limits.output_mb} MB"
    if code < 0:
        return f"{engine} ended by signal {-code}"
    return first_error(log) or f"{engine} ended with status {code}"


def first_error(log: str) -> str | None:
    """Return TeX's first error, with its line."""
    error = re.search(r"^! ?(.*)", log, re.MULTILINE)
    if error is None:
        return None
    line = re.search(r"^l\.(\d+)", log[error.start() :], re.MULTILINE)
    return error[1].strip() + (f" (line {line[1]})" if line else "")


def _leak(log: str, folder: Path) -> str | None:
    r"""Return the file embedded from outside the folder, by `\pdfobj file` and its like."""
    for match in _EMBEDDED.finditer(log):
        path = os.path.join(folder, os.path.expanduser(match[1]))  # noqa: PTH111, PTH118 - see below
        if not os.path.exists(path):  # noqa: PTH110 - pathlib raises on names that no file can have
            continue  # errors quote PDF code, which looks alike
        if not Path(path).resolve().is_relative_to(folder):
            return f"embedded a file from outside its folder: {match[1]}"
    return None
