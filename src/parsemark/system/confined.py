r"""A launcher that gives up rights and then becomes another program. Run as a script, never imported.

    python -I -S confined.py '{"cpu_s": 60, "memory_mb": 512, "file_mb": 64, "read": […], "write": […]}' PROG…

It sets resource limits and, on Linux kernels that have Landlock, forbids every file outside the named
folders to the program and its children. (TeX's own paranoid mode is not enough: `\pdfobj file` ignores it.)
Only the standard library, and only what starts fast.
"""

import ctypes
import json
import os
import resource
import signal
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same number on every architecture
NO_NEW_PRIVILEGES = 38
RULE_PATH_BENEATH = 1
ASK_VERSION = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1}
RIGHTS_SINCE_3 = (1 << 15) - 1


def set_limits(cpu_s: int, memory_mb: int, file_mb: int) -> None:
    """Limit CPU time, address space and the size of each file; a limit that is already lower stays."""
    for kind, value in (
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, memory_mb * 2**20),
        (resource.RLIMIT_FSIZE, file_mb * 2**20),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (bound, bound))
        except (ValueError, OSError):
            continue  # this system has no such limit; time and size are watched from outside as well


def forbid_other_files(read: list[str], write: list[str]) -> bool:
    """Confine this process to the given paths; False where the kernel cannot."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1:
        return False
    rights = RIGHTS_BY_VERSION.get(version, RIGHTS_SINCE_3)
    attributes = struct.pack("=Q", rights)
    ruleset = libc.syscall(CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    reading = EXECUTE | READ_FILE | READ_DIR
    for path, allowed in [*((p, reading) for p in read), *((p, rights & ~EXECUTE) for p in write)]:
        add_path(libc, ruleset, path, allowed & rights)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)


def add_path(libc: ctypes.CDLL, ruleset: int, path: str, allowed: int) -> None:
    """Allow rights beneath a path; a path that does not exist needs none."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)  # type: ignore[attr-defined,unused-ignore] # Linux only
    except OSError:
        return
    if not os.path.isdir(path):  # noqa: PTH112 - pathlib would double the start-up time
        allowed &= ON_FILES
    rule = struct.pack("=Qi", allowed, descriptor)
    libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0)
    os.close(descriptor)


def main() -> None:
    """Confine, then become the program."""
    wanted = json.loads(sys.argv[1])
    set_limits(wanted["cpu_s"], wanted["memory_mb"], wanted["file_mb"])
    forbid_other_files(wanted["read"], wanted["write"])
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and the program would inherit that
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
