"""Processes that we start: what they and their children use, how they ended, and how to end them all.

A program is started by `Supervised`, under a supervisor (`supervisor.py`) that ends with it all that it has
started, also when this process is killed. One that runs on input nobody has read is confined
(`confinement.py`): with bounded means, and without files but its own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import secrets
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from parsemark.errors import MakingError

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_CPU_CLOCK = 2
SUPERVISOR = Path(__file__).with_name("supervisor.py")
_CLOSE_S = 5.0  # how long the supervisor may take to end all; then we end them ourselves
_MARK = "PARSEMARK_SUPERVISED"  # a variable of all that a supervised program starts
JOBS_S = 600.0  # for a batch of documents, on a busy machine
_CHUNK = 1 << 16
_DYING_S = 60.0  # how long what was killed may take to be gone before we go on without it


class EndedError(Exception):
    """A program has closed its end of a pipe, behind the beginning of a line of so many bytes."""

    def __init__(self, n_bytes: int = 0) -> None:
        super().__init__(n_bytes)
        self.n_bytes = n_bytes


class Supervised:
    """A running program with its pipes, and everything that it has started, ended together by `close`.

    OSError if it cannot be started. Without a confinement it may use all that we may use. Read its output by
    lines or by sizes, not by both.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | None = None,
        confinement: Confinement | None = None,
        streams: tuple[int | None, int | None, int | None] = (subprocess.PIPE,) * 3,
    ) -> None:
        lifeline, self._lifeline = os.pipe()
        self._mark = f"{_MARK}={secrets.token_hex(8)}"
        rights = ""
        if confinement is not None:
            rights = json.dumps(dataclasses.asdict(confinement) | {"required": why_not_confined() is None})
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), str(lifeline), rights, *argv],
                env={**env, _MARK: self._mark.partition("=")[2]},
                cwd=cwd,
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                start_new_session=True,
                pass_fds=[lifeline],
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(lifeline)
        self._closed = False
        self._read_ahead = bytearray()

    @property
    def pid(self) -> int:
        """Return the supervisor's process id; the program and all its descendants are below it."""
        return self.process.pid

    def begin(self) -> None:
        """Let the program start: until now only the supervisor runs, and limits can be set on it."""
        with contextlib.suppress(OSError):
            os.write(self._lifeline, b"b")

    def write(self, data: bytes, deadline: float) -> None:
        """Write all; TimeoutError if it is not read in time, EndedError if the program has closed its end."""
        assert self.process.stdin is not None
        rest, handle = memoryview(data), self.process.stdin.fileno()
        os.set_blocking(handle, False)
        while rest:
            _wait_for(handle, select.POLLOUT, deadline)
            try:
                rest = rest[os.write(handle, rest) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise EndedError from error

    def read(self, size: int, deadline: float) -> bytearray:
        """Return so many bytes; raise TimeoutError if they do not come in time, EndedError if they never
        will.
        """
        assert self.process.stdout is not None
        data, n_read, handle = bytearray(size), 0, self.process.stdout.fileno()
        while n_read < size:
            _wait_for(handle, select.POLLIN, deadline)
            if not (more := os.readv(handle, [memoryview(data)[n_read:]])):
                raise EndedError
            n_read += more
        return data

    def read_line(self, deadline: float, most: int) -> bytes:
        """Return the next line, of which no more than `most` bytes are held; raise BufferError if it is
        longer.
        """
        assert self.process.stdout is not None
        searched, handle = 0, self.process.stdout.fileno()
        while (end := self._read_ahead.find(b"\n", searched)) < 0:
            searched = len(self._read_ahead)
            if searched > most:
                raise BufferError
            _wait_for(handle, select.POLLIN, deadline)
            if not (chunk := os.read(handle, _CHUNK)):
                raise EndedError(len(self._read_ahead))
            self._read_ahead += chunk
        line = bytes(self._read_ahead[:end])
        del self._read_ahead[: end + 1]
        return line

    def exit_code(self, wait_s: float) -> int | None:
        """Return how it ended; None if it goes on for longer."""
        try:
            return self.process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """End everything; on return it is gone. The pipes stay open until `let_go`."""
        if self._closed:
            return
        self._closed = True
        os.close(self._lifeline)
        if (
            self.exit_code(_CLOSE_S) is None
        ):  # somebody has stopped the supervisor, or the machine is very busy
            ended = kill_tree(self.pid)
            self.process.wait()
            _wait_for_the_end(ended)
        if self.process.returncode == -signal.SIGKILL:  # perhaps the supervisor itself was: it has orphans
            kill_survivors(_marked(self._mark))

    def let_go(self) -> None:
        """Close the pipes. After a fork the new process does this alone: the program is not its child."""
        if not self._closed:
            self._closed = True
            os.close(self._lifeline)
            self.process.returncode = 0  # nobody here waits for it
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def _wait_for(handle: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(handle, event)
    if (remaining := deadline - time.monotonic()) <= 0 or not poll.poll(1000 * remaining):
        raise TimeoutError


def end_supervised(pid: int) -> None:
    """Tell a supervisor to end its program and everything that it has started, without waiting for it."""
    _send(pid, signal.SIGTERM)


SYSTEM_FILES = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/proc", "/sys", "/opt/java"),
    *("/etc/alternatives", "/etc/fonts", "/etc/ssl", "/etc/ca-certificates", "/etc/pki"),
    *map(str, Path("/etc").glob("java*")),  # Debian has a folder for each release, Fedora one for all
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf"),
    *("/etc/gai.conf", "/etc/mime.types", "/etc/magic", "/etc/papersize", "/etc/OpenCL", "/etc/vulkan"),
    *("/etc/libreoffice", "/var/lib/libreoffice", "/var/spool/libreoffice"),
)
"""What programs need of a system: none of it is a user's."""
_TOOL_FILES = (
    *("/etc/chromium", "/etc/chromium.d", "/etc/machine-id", "/var/cache/fontconfig"),
    "/opt/google",
    *("/etc/texmf", "/etc/perl", "/var/lib/texmf"),
)
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "dri", "kfd"))


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a program may use: files that it reads, folders that it writes, the network or not."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    network: bool = False
    sockets: tuple[str, ...] = ()  # folders in which it may make sockets, and nothing else
    cpu_s: int | None = None
    memory_mb: int | None = None
    """What each of its processes may allocate; address space that is only reserved does not count."""
    file_mb: int | None = None  # size of each file that it writes
    sets_modes: bool = False  # whether it may set modes of files also where no mounts keep those of others


def confinement_for(read: Iterable[str], write: Iterable[str], *, network: bool) -> Confinement:
    """Return the confinement of a program with files of its own: what it needs of any system."""
    devices = [*DEVICES, *map(str, Path("/dev").glob("nvidia*"))]
    return Confinement((*SYSTEM_FILES, *read), (*devices, *write), network)


_PROBE = """
import json, sys; sys.path.insert(0, sys.argv[1])
import confinement as c; print(json.dumps(c.confine(["/"], [], [], network=False)))
"""


@lru_cache(maxsize=1)
def held_by_confinement() -> tuple[str, ...]:
    """Return the mechanisms that confine a program on this machine, as a confined one found; empty where none
    do.
    """
    command = [sys.executable, "-I", "-S", "-c", _PROBE, str(SUPERVISOR.parent)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    return tuple(json.loads(done.stdout)) if done.returncode == 0 else ()


@lru_cache(maxsize=1)
def why_not_confined() -> str | None:
    """Return why programs cannot be confined on this machine; None where they can: files and network."""
    from parsemark.system.confinement import landlock_version

    version = landlock_version()
    if version < 1:
        return "its kernel has no Landlock (Linux 5.13 or later, and not switched off)"
    if version >= 4 or any("network" in held for held in held_by_confinement()):
        return None
    return "it allows no namespaces, by which the network would be closed"


@dataclass(frozen=True, slots=True)
class Process:
    """What the system says of one process. A process id is given again; together with the start it is not."""

    pid: int
    started: int
    memory_mb: float
    cpu_s: float


def processes_below(pid: int) -> list[Process]:
    """Return all descendants of a process; empty if there are none or the system does not tell."""
    found: dict[int, Process] = {}
    pending = _children(pid)
    while pending:
        child = pending.pop()
        if child not in found and (process := look_at(child)) is not None:
            found[child] = process
            pending += _children(child)
    return list(found.values())


def usage_of(processes: Iterable[Process]) -> tuple[float, float]:
    """Return MB of memory and seconds of CPU time of all: what several hold counts once, also if mapped
    nowhere.
    """
    listed = list(processes)
    hidden_mb = sum(open_files_mb((p.pid for p in listed), in_memory=True).values())
    memory_mb = sum(p.memory_mb for p in listed)
    if len(listed) > 1 or hidden_mb:
        shares = [_shared_out_mb(p.pid) for p in listed]
        if all(own for own, _ in shares):
            memory_mb = sum(own for own, _ in shares) + max(sum(shm for _, shm in shares), hidden_mb)
        else:  # the system does not share it out, or one has just ended
            memory_mb += hidden_mb
    return memory_mb, sum(p.cpu_s for p in listed)


def kill_tree(pid: int) -> list[Process]:
    """End a process and all its descendants; they are stopped first, so that none can fork on. Returns the
    descendants, which may take a moment to be gone.
    """
    _send(pid, signal.SIGSTOP)
    stopped: dict[int, Process] = {}
    while new := [p for p in processes_below(pid) if p.pid not in stopped]:
        for member in new:
            _send(member.pid, signal.SIGSTOP)
        stopped |= {member.pid: member for member in new}
    for number in (pid, *stopped):
        _send(number, signal.SIGKILL)
    return list(stopped.values())


def kill_survivors(processes: Iterable[Process]) -> int:
    """End those that are still there and not mere zombies; returns how many. On return they are gone."""
    survivors = [p for p in processes if is_alive(p)]
    for process in survivors:
        _send(process.pid, signal.SIGKILL)
    _wait_for_the_end(survivors)
    return len(survivors)


def _wait_for_the_end(killed: Sequence[Process]) -> None:
    """SIGKILL is a promise of the system, which a busy one keeps later; one that hangs in a device may never
    be gone, and nobody waits for it for ever.
    """
    end = time.monotonic() + _DYING_S
    while any(map(is_alive, killed)) and time.monotonic() < end:
        time.sleep(0.002)


def is_alive(process: Process) -> bool:
    """Return whether it is that process that runs under the id, and it has not ended."""
    fields = _stat(process.pid)
    return fields is not None and int(fields[19]) == process.started and fields[0] not in "ZX"


def describe_exit(code: int) -> str:
    """Return how a process ended, by the return code that `subprocess` and `multiprocessing` give.

    >>> describe_exit(-9), describe_exit(3)
    ('by signal SIGKILL', 'with exit code 3')
    """
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by signal {signal.Signals(-code).name}"
    except ValueError:  # real-time signals between the first and the last have no names
        return f"by signal {-code}"


def _marked(mark: str) -> list[Process]:
    """Return processes with a variable, as far as we may look into them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(look_at(int(entry.name)))
    return [process for process in found if process is not None]


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def look_at(pid: int) -> Process | None:
    """Return the system's data on one process; None if there is none or the system does not give it."""
    fields = _stat(pid)
    if fields is None:
        return None
    # 11 to 14 are the CPU times, own and of children waited for; 19 is the start, 21 the resident memory.
    try:
        own = time.clock_gettime((~pid << 3) | _CPU_CLOCK)  # as `clock_getcpuclockid` names it
    except OSError:
        own = sum(int(f) for f in fields[11:13]) / _TICKS_PER_S
    cpu_s = own + sum(int(f) for f in fields[13:15]) / _TICKS_PER_S
    return Process(pid, int(fields[19]), int(fields[21]) * _PAGE_MB, cpu_s)


def _shared_out_mb(pid: int) -> tuple[float, float]:
    """Return memory of a process by its share of pages that several hold: its own and files', and shared
    memory.
    """
    found = {"Pss_Anon": 0.0, "Pss_File": 0.0, "Pss_Shmem": 0.0}
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in found:
                found[name] = int(value.split()[0]) / 1024
    return found["Pss_Anon"] + found["Pss_File"], found["Pss_Shmem"]


def open_files_mb(pids: Iterable[int], *, in_memory: bool) -> dict[tuple[int, int], float]:
    """Return the MB of files without a name that processes hold open, mapped or not, each file once: those in
    memory (`memfd_create`), or those on disk, which were removed.
    """
    found: dict[tuple[int, int], float] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    is_memory = str(Path(entry.path).readlink()).startswith("/memfd:")
                    if is_memory == in_memory:
                        state = entry.stat()
                        if (stat.S_ISREG(state.st_mode) and not state.st_nlink) or is_memory:
                            found[state.st_dev, state.st_ino] = state.st_blocks * 512 / 2**20
    return found


def _stat(pid: int) -> list[str] | None:
    """Return `/proc/PID/stat` from field 3 of proc(5) on: the name before it may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def _children(pid: int) -> list[int]:
    children: list[int] = []
    tasks = Path(f"/proc/{pid}/task")
    with contextlib.suppress(OSError):
        for task in tasks.iterdir():
            with contextlib.suppress(OSError):
                children += [int(child) for child in (task / "children").read_text().split()]
    return children


def run_program(
    argv: Sequence[str],
    rights: Confinement | None,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float | None,
    given: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end; nothing that it has started outlives it, or us, or the time that it has.

    `rights`: what it may use, as far as this machine can confine, None for all that we may use; `given`: what
    it reads. OSError if it cannot be started, subprocess.TimeoutExpired if it took longer than it may.
    """
    running = Supervised(argv, env=env, cwd=str(cwd), confinement=rights)
    with running.process:
        try:
            running.begin()
            out, errors = running.process.communicate(given, timeout_s)
        finally:
            running.close()
    return subprocess.CompletedProcess(argv, running.process.returncode, out, errors)


def run_our_module(
    module: str, rights: Confinement, *, cwd: Path, timeout_s: float | None, given: bytes
) -> subprocess.CompletedProcess[bytes]:
    """Run a module of ours as `run_program` does, where a library works on input of others."""
    path = os.pathsep.join(_import_path())
    rights = dataclasses.replace(rights, read=(*rights.read, sys.prefix, sys.base_prefix, *_import_path()))
    env = {**tool_environment(cwd), "PYTHONPATH": path, "PARSEMARK_CACHE": str(cwd / "cache")}
    if chromium := os.environ.get("PARSEMARK_CHROMIUM"):
        env["PARSEMARK_CHROMIUM"] = chromium
    command = [sys.executable, "-P", "-m", module]
    return run_program(command, rights, cwd=cwd, env=env, timeout_s=timeout_s, given=given)


def run_on_jobs(tool: str, module: str, jobs: Any, rights: Confinement, cwd: Path) -> Any:
    """Run a tool of others on JSON through a module of ours and return its answer; raise MakingError if that
    fails.
    """
    try:
        done = run_our_module(module, rights, cwd=cwd, timeout_s=JOBS_S, given=json.dumps(jobs).encode())
    except subprocess.TimeoutExpired as error:
        raise MakingError(f"{tool} took longer than {JOBS_S:.0f} s.") from error
    if done.returncode:
        raise MakingError(f"{tool} failed: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return json.loads(done.stdout)


def _import_path() -> list[str]:
    """Return where modules are imported from, but for the folder that somebody happens to be in."""
    here = str(Path.cwd())
    found = {entry for entry in sys.path if entry not in ("", here) and Path(entry).exists()}
    return sorted(found | {str(Path(__file__).resolve().parents[2])})


def tool_environment(folder: Path) -> dict[str, str]:
    """Return the variables for a program that has a folder of its own: none of ours."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8"}


def tool_rights(
    read: Iterable[str],
    write: Iterable[str],
    *,
    cpu_s: int | None = None,
    memory_mb: int | None = None,
    file_mb: int | None = None,
) -> Confinement:
    """Return the rights of a program that works on input of others: its files, no network, bounded means."""
    found = confinement_for([*read, *_TOOL_FILES], write, network=False)
    return dataclasses.replace(found, cpu_s=cpu_s, memory_mb=memory_mb, file_mb=file_mb)
