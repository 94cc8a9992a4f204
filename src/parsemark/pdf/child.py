"""The supervised process in which PDFs are opened: one for each of ours, with limits, and again when it dies.

PDFium allows no threads, and a PDF of 600 bytes can make it take all memory or crash. So nothing of ours
calls it in its own process: a function that opens PDFs is marked with `in_child`, and then runs in a child
that answers one call after the other. Whatever a PDF does there costs this one call, which is a PdfError.

The child gets calls as pickles, since we make them. What it answers is read by an unpickler that knows
plain values, and dataclasses, tuples and enums of ours and of the package whose function was called, and
nothing else that could be called: the child has read a PDF of somebody.
"""

import atexit
import contextlib
import dataclasses
import enum
import functools
import importlib
import io
import json
import os
import pickle
import resource
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, ParamSpec, TypeVar, cast

from parsemark.errors import PdfError
from parsemark.system.processes import EndedError, Supervised, describe_exit

MEMORY_MB = 1536  # address space of the child: a picture of the largest page we draw takes a quarter of it
CPU_S = 30  # CPU time of one call, unless its function says otherwise
_WALL_PER_CPU = 10
"""A call may take so many times its CPU time on a clock: disks are slow, and machines are busy."""
_MAX_PART = 1 << 29  # bytes of an answer without its pictures, and of each of these
_KEEP_MB = 512  # beyond this, what the child holds of documents that it has read is let go
_SIZE = struct.Struct("<Q")
_UNREADABLE = (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, ImportError)
_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from parsemark.pdf.child import serve_calls; serve_calls()"
)

Given = ParamSpec("Given")
Result = TypeVar("Result")
_is_child = False


def in_child(cpu_s: int = CPU_S) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Make a function at the top of a module, which opens PDFs, run where that is safe.

    Its arguments and result are plain values, paths, or dataclasses, tuples and enums of ours; it may read
    files, and write none. It raises PdfError: its own, or the PDF has ended the child, by a crash or by what
    it needs (`cpu_s` is how much CPU time one call may take).
    """

    def mark(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @functools.wraps(function)
        def call(*args: Given.args, **named: Given.kwargs) -> Result:
            if _is_child:
                return function(*args, **named)
            return cast(Result, _ask(f"{function.__module__}:{function.__qualname__}", args, named, cpu_s))

        return call

    return mark


def is_child() -> bool:
    """Return whether this process is the one in which PDFs are opened."""
    return _is_child


class _DeadError(Exception):
    """The child is gone; says how it ended, and whether the same call would end the next one too."""

    def __init__(self, how: str, *, again: bool = False) -> None:
        super().__init__(how)
        self.again = again


class _Child:
    """A running child."""

    def __init__(self) -> None:
        path = [entry or str(Path.cwd()) for entry in sys.path]
        streams = subprocess.PIPE, subprocess.PIPE, subprocess.DEVNULL
        command = [sys.executable, "-I", "-c", _START, json.dumps(path)]
        self.program = Supervised(command, env=os.environ, streams=streams)
        self.program.begin()
        self.answered = 0

    def ask(self, call: bytes, cpu_s: int, package: str) -> Any:
        """Answer one call of a package's function; `_DeadError` if it ends the child."""
        deadline = time.monotonic() + cpu_s * _WALL_PER_CPU
        try:
            self.program.write(_SIZE.pack(len(call)) + call, deadline)
            answer = self._part(deadline)
            buffers = [self._part(deadline) for _ in range(self._number(deadline))]
            found = _Answer(package, io.BytesIO(answer), buffers=buffers).load()
        except TimeoutError as error:
            raise _DeadError("it took too long", again=True) from error
        except EndedError as error:
            code = self.program.exit_code(10) or 0
            if code == -signal.SIGXCPU:
                raise _DeadError("it needed too much CPU time", again=True) from error
            raise _DeadError(f"it ended {describe_exit(code)}") from error
        except _UNREADABLE as error:
            raise _DeadError(f"its answer cannot be read ({error})", again=True) from error
        self.answered += 1
        return found

    def _number(self, deadline: float) -> int:
        return int(_SIZE.unpack(self.program.read(_SIZE.size, deadline))[0])

    def _part(self, deadline: float) -> bytearray:
        size = self._number(deadline)
        if size > _MAX_PART:
            raise _DeadError("its answer is too large", again=True)
        return self.program.read(size, deadline)

    def end(self) -> None:
        """End it, whatever it does."""
        self.program.close()
        self.program.let_go()


_lock = threading.Lock()
_child: _Child | None = None
_deadly: dict[tuple[object, ...], str] = {}
"""What has ended a child, so that it ends no other: pages of files as they were then."""
_MAX_DEADLY = 10_000


def _ask(name: str, args: tuple[Any, ...], named: dict[str, Any], cpu_s: int) -> Any:
    """Call a function in the child; one that has read other PDFs before may have died of those."""
    pdf = next((value for value in args if isinstance(value, Path)), None)
    places = tuple(value.absolute() if isinstance(value, Path) else value for value in args)
    call = pickle.dumps((name, places, named, cpu_s))
    key = _page_key(name, args)
    with _lock:
        if key in _deadly:
            raise PdfError(_deadly[key])
        try:
            is_ok, result = _answer_of_child(call, cpu_s, name.partition(".")[0])
        except _DeadError as error:
            limits = f"It may use {MEMORY_MB:,} MB of memory and {cpu_s} s of CPU time."
            said = f"{pdf} cannot be read: the process that opens PDFs did not survive it: {error}. {limits}"
            if len(_deadly) < _MAX_DEADLY:
                _deadly[key] = said
            raise PdfError(said) from error
    if not is_ok:
        raise PdfError(result if pdf is None else result.replace(str(pdf.absolute()), str(pdf)))
    return result


def _page_key(name: str, args: tuple[Any, ...]) -> tuple[object, ...]:
    """Return the subject of a call: a page of a file, or the function if it concerns no single page."""
    about = args[1] if len(args) > 1 and isinstance(args[1], int) else name
    try:
        state = args[0].stat()
    except (IndexError, AttributeError, OSError, ValueError):
        return name, pickle.dumps(args)
    return state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size, about


def _answer_of_child(call: bytes, cpu_s: int, package: str) -> tuple[bool, Any]:
    global _child  # noqa: PLW0603 - one for each process
    while True:
        child = _child = _child or _Child()
        try:
            found: tuple[bool, Any] = child.ask(call, cpu_s, package)
        except BaseException as error:
            # Also Ctrl-C: what the child answers later is no answer to the next call.
            _child = None
            child.end()
            if not isinstance(error, _DeadError) or error.again or not child.answered:
                raise
        else:
            return found


class _Answer(pickle.Unpickler):
    """Reads what the child answers: nothing is called but what makes plain values of known packages."""

    def __init__(self, package: str, file: BinaryIO, *, buffers: list[bytearray]) -> None:
        super().__init__(file, buffers=buffers)
        self.packages = ("parsemark", package)

    def find_class(self, module: str, name: str) -> Any:
        """Return a dataclass, tuple or enum of ours, or of the package whose function was called."""
        if module.partition(".")[0] in self.packages:
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and (
                dataclasses.is_dataclass(found) or issubclass(found, tuple | enum.Enum)
            ):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not a value")


def _forget() -> None:
    """Forget the parent's child in a forked process, which has its pipes and must start one of its own."""
    global _child, _lock  # noqa: PLW0603
    _lock = threading.Lock()
    if _child is not None:
        _child.program.let_go()
    _child = None


def close() -> None:
    """End the child, if there is one; the next call starts another."""
    global _child  # noqa: PLW0603
    with _lock:
        if _child is not None:
            _child.end()
        _child = None


@atexit.register
def _close_at_exit() -> None:
    """End the child after all else is done; who presses Ctrl-C then gets no traceback, and the child ends by
    itself, since its pipe is closed first.
    """
    with contextlib.suppress(KeyboardInterrupt):
        close()


os.register_at_fork(after_in_child=_forget)


def serve_calls() -> None:
    """Run as the child: answer calls until the pipe is closed."""
    global _is_child  # noqa: PLW0603
    _is_child = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # what a library prints is no answer
        os.dup2(nothing, stream)
    _limit(resource.RLIMIT_AS, MEMORY_MB * 2**20)
    _limit(resource.RLIMIT_CORE, 0)
    while len(head := calls.read(_SIZE.size)) == _SIZE.size:
        name, args, named, cpu_s = pickle.loads(calls.read(_SIZE.unpack(head)[0]))
        _limit(resource.RLIMIT_CPU, int(time.process_time()) + 1 + cpu_s)
        _send(answers, _answer(name, args, named))
        _let_documents_go()


def _send(answers: BinaryIO, answer: tuple[bool, Any]) -> None:
    """Send an answer: its pickle, how many pictures it has, and these, which are copied nowhere."""
    pictures: list[pickle.PickleBuffer] = []
    whole = pickle.dumps(answer, protocol=5, buffer_callback=pictures.append)
    answers.write(_SIZE.pack(len(whole)) + whole + _SIZE.pack(len(pictures)))
    for picture in pictures:
        answers.write(_SIZE.pack(picture.raw().nbytes))
        answers.write(picture.raw())
    answers.flush()


def _answer(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[bool, Any]:
    module, _, function = name.partition(":")
    about = args[0] if args else name
    try:
        return True, getattr(importlib.import_module(module), function)(*args, **named)
    except PdfError as error:
        return False, str(error)
    except MemoryError:
        return False, f"{about} cannot be read in {MEMORY_MB:,} MB of memory."
    except Exception as error:
        return False, f"{about} cannot be read: {type(error).__name__}: {error}"


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # this system has no such limit
        resource.setrlimit(kind, (bound, hard))


WHERE_MEMORY_IS_SCARCE: list[Callable[[], None]] = []
"""What the modules that keep things open in a child do to close them."""


def _let_documents_go() -> None:
    """Close what is open where memory is scarce."""
    try:
        used_mb = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        used_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    if used_mb > _KEEP_MB:
        for let_go in WHERE_MEMORY_IS_SCARCE:
            let_go()
