r"""A launcher that gives up rights and then becomes another program. Run as a script, or by `supervisor.py`.

    python -I -S confined.py '{"read": […], "write": […], "sockets": [], "cpu_s": 60, …}' PROGRAM…

It sets resource limits and, on Linux kernels that have Landlock, forbids every file outside the named
folders to the program and its children, the network unless `"network": true`, signals to others, their
limits, and keyrings. Where the system lets it, the program gets a network, a `/dev/shm` and a view of other
users of its own, too.
(TeX's own paranoid mode is not enough: `\pdfobj file` ignores it.)
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
NO_NEW_PRIVILEGES, FILTER_CALLS = 38, 22
RULE_PATH_BENEATH = 1
ASK_VERSION = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, MAKE_SOCKET, TRUNCATE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 9, 1 << 14
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1}
RIGHTS_SINCE_3 = (1 << 15) - 1
ALL_TCP = 3
SIGNALS_AND_SOCKETS = 3
NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x40000000
PRIVATE_MOUNTS = 1 << 14 | 1 << 18
NO_SUID_NO_DEVICES = 2 | 4
SET_INTERFACE_FLAGS = 0x8914


def set_limits(cpu_s: int | None, memory_mb: int | None, file_mb: int | None) -> None:
    """Limit CPU time, memory and the size of each file; a limit that is already lower stays.

    Memory is what a process may allocate for itself (`RLIMIT_DATA`): browsers reserve a thousand times more
    address space than they use, and could not start under a bound of that.
    """
    for kind, value, unit in (
        (resource.RLIMIT_CPU, cpu_s, 1),
        (resource.RLIMIT_DATA, memory_mb, 2**20),
        (resource.RLIMIT_FSIZE, file_mb, 2**20),
        (resource.RLIMIT_CORE, 0, 1),
    ):
        if value is None:
            continue
        hard = resource.getrlimit(kind)[1]
        bound = value * unit if hard == resource.RLIM_INFINITY else min(value * unit, hard)
        try:
            resource.setrlimit(kind, (bound, bound))
        except (ValueError, OSError):
            continue  # this system has no such limit; time and size are watched from outside as well


def landlock_version() -> int:
    """Of the kernel; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, 0, ASK_VERSION)))


def forbid_other_files(
    read: list[str], write: list[str], sockets: list[str], *, network: bool = False
) -> bool:
    """Confine this process to the given paths; False where the kernel cannot."""
    version = landlock_version()
    if version < 1:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    rights = RIGHTS_BY_VERSION.get(version, RIGHTS_SINCE_3)
    attributes = struct.pack("=Q", rights)
    if version >= 4:
        attributes += struct.pack("=Q", 0 if network else ALL_TCP)
    if version >= 6:
        attributes += struct.pack("=Q", SIGNALS_AND_SOCKETS)
    ruleset = libc.syscall(CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    reading = EXECUTE | READ_FILE | READ_DIR
    for paths, allowed in ((read, reading), (write, rights & ~EXECUTE), (sockets, MAKE_SOCKET)):
        for path in paths:
            add_path(libc, ruleset, path, allowed & rights)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    forbid_calls()
    return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)


def forbid_calls() -> None:
    """Refuse `prlimit` on other processes, and all keyrings of the kernel.

    A program of the same user could starve its rivals, or us; and a session's keyring is shared with whoever
    started us. Reading limits, and setting those of the caller, is as ever. Needs `NO_NEW_PRIVILEGES`; where
    the machine is not known, nothing changes.
    """
    known = {"x86_64": (0xC000003E, 302, 248), "aarch64": (0xC00000B7, 261, 217)}.get(os.uname().machine)
    if known is None or sys.byteorder != "little":
        return
    architecture, prlimit, add_key = known  # behind the last one: request_key, keyctl
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06  # words of the packet; jumps; the end
    steps = (  # code, how many steps to jump if it holds and if not, value
        (load, 0, 0, 4),  # the architecture
        (equal, 0, 12, architecture),
        (load, 0, 0, 0),  # the call
        (at_least, 10, 0, 0x40000000),  # those of x32
        (equal, 9, 0, add_key),
        (equal, 8, 0, add_key + 1),
        (equal, 7, 0, add_key + 2),
        (equal, 0, 7, prlimit),
        (load, 0, 0, 16),  # whose limits
        (equal, 5, 0, 0),  # the caller's
        (load, 0, 0, 32),  # the new ones, the lower half of their place
        (equal, 0, 2, 0),
        (load, 0, 0, 36),  # and the upper half
        (equal, 1, 0, 0),  # none: it only asks
        (answer, 0, 0, 0x00050001),  # EPERM
        (answer, 0, 0, 0x7FFF0000),  # go on
    )
    program = b"".join(struct.pack("=HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("@HP", len(steps), ctypes.addressof(held))
    ctypes.CDLL(None, use_errno=True).prctl(FILTER_CALLS, 2, described, 0, 0)


def leave_namespaces(*, network: bool = False) -> bool:
    """Give this process namespaces of its own: users, mounts, IPC and, unless it may use it, the network.

    `/dev/shm` is then its own. False where the system does not allow it; nothing has changed then.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:  # a process that is confined already may ask for namespaces, but not say who it is in them
        os.close(os.open("/proc/self/uid_map", os.O_WRONLY))
    except OSError:
        return False
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_USER | NEW_MOUNTS | NEW_IPC | (0 if network else NEW_NETWORK)) != 0:
        return False
    try:
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for name, text in maps.items():
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - pathlib would double the start-up time
                file.write(text)
    except OSError:
        return False
    libc.mount(b"none", b"/", None, PRIVATE_MOUNTS, None)
    own_memory = libc.mount(b"shm", b"/dev/shm", b"tmpfs", NO_SUID_NO_DEVICES, b"size=256m,mode=1777")
    # A program in a network of its own may speak with itself.
    handle = -1 if network else libc.socket(2, 2, 0)  # AF_INET, SOCK_DGRAM
    if handle >= 0:
        libc.ioctl(handle, SET_INTERFACE_FLAGS, struct.pack("16sh22x", b"lo", 1 | 64))
        os.close(handle)
    return bool(own_memory == 0)


def confine(
    read: list[str],
    write: list[str],
    sockets: list[str],
    *,
    network: bool = True,
    cpu_s: int | None = None,
    memory_mb: int | None = None,
    file_mb: int | None = None,
) -> bool:
    """Confine this process; False if its files cannot be confined."""
    set_limits(cpu_s, memory_mb, file_mb)
    shared = ["/dev/shm"] if leave_namespaces(network=network) else []
    return forbid_other_files(read, [*write, *shared], sockets, network=network)


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
    confine(**json.loads(sys.argv[1]))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and the program would inherit that
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
