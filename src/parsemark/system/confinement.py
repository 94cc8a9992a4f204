r"""Gives up rights, before `supervisor.py` becomes another program in this process.

It sets resource limits and, on Linux kernels that have Landlock, forbids every file outside the named
folders to the program and its children, the network unless it is allowed, and signals to others. A filter of
system calls refuses what Landlock does not govern. Where the system lets it, the program gets a network, a
`/dev/shm` and a view of other users of its own, and all files but its own are mounted read-only.
(TeX's own paranoid mode is not enough: `\pdfobj file` ignores it.)
Only the standard library, and only what starts fast.
"""

import ctypes
import os
import resource
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
SET_MOUNT, HERE, BELOW_TOO, READ_ONLY, BIND_ALL = 442, -100, 0x8000, 1, 1 << 12 | 1 << 14
DROP_CAPABILITY = 24
OWN_TASKS = b"/proc/self/task"  # where CUDA gives names to its threads, or does not start
KEPT_CAPABILITIES = (1, 2)  # to open files of others, for root in a container


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
    """Return the version of the kernel's Landlock; 0 where there is none."""
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
    return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)


def forbid_calls(*, keeps_metadata: bool, has_own_ipc: bool) -> bool:
    """Set the filter of `system_calls.py`, and let no program get more rights; False without a filter."""
    import system_calls  # type: ignore[import-not-found,unused-ignore] # beside this script

    libc = ctypes.CDLL(None, use_errno=True)
    n_steps, program = system_calls.packed_filter(keeps_metadata=keeps_metadata, has_own_ipc=has_own_ipc)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0 or not n_steps:
        return False
    held = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("@HP", n_steps, ctypes.addressof(held))
    return bool(libc.prctl(FILTER_CALLS, 2, described, 0, 0) == 0)


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


def keep_other_files(write: list[str], *, hidden: list[str]) -> bool:
    """Mount everything read-only in this namespace but `/dev/shm` and some folders, and empty folders over
    `hidden`; False if that cannot be. Owner, times and attributes of read-only files cannot be changed.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    for folder in hidden:  # sockets of the system's services
        libc.mount(b"none", os.fsencode(folder), b"tmpfs", NO_SUID_NO_DEVICES, b"size=0,mode=755")
    own = [os.fsencode(path) for path in write if not path.startswith("/dev/") and os.path.exists(path)]  # noqa: PTH110
    if not change_mount(libc, b"/", READ_ONLY, 0, BELOW_TOO):
        return False
    held = [libc.mount(path, path, None, BIND_ALL, None) == 0 for path in own]
    held += [change_mount(libc, path, 0, READ_ONLY) for path in (*own, b"/dev/shm")]
    if libc.mount(OWN_TASKS, OWN_TASKS, None, BIND_ALL, None) == 0:
        change_mount(libc, OWN_TASKS, 0, READ_ONLY)
    try:  # where we are is still the folder below the mount
        os.chdir(os.getcwd())  # noqa: PTH109
    except OSError:
        return False
    return all(held)


def change_mount(libc: ctypes.CDLL, path: bytes, add: int, remove: int, flags: int = 0) -> bool:
    """Add and remove attributes of a mount."""
    attributes = struct.pack("=4Q", add, remove, 0, 0)
    result = libc.syscall(SET_MOUNT, HERE, path, flags, attributes, ctypes.c_size_t(len(attributes)))
    return bool(result == 0)


def drop_capabilities() -> None:
    """Drop all capabilities of the program that this process becomes, except to open files, which Landlock
    bounds.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(64):
        if number not in KEPT_CAPABILITIES and libc.prctl(DROP_CAPABILITY, number, 0, 0, 0) != 0:
            break


def confine(
    read: list[str],
    write: list[str],
    sockets: list[str],
    *,
    network: bool = True,
    cpu_s: int | None = None,
    memory_mb: int | None = None,
    file_mb: int | None = None,
    sets_modes: bool = False,
) -> list[str]:
    """Confine this process; returns what holds of it, empty if its files cannot be confined."""
    set_limits(cpu_s, memory_mb, file_mb)
    if not sys.platform.startswith("linux"):
        return []
    held: list[str] = []
    shared: list[str] = []
    kept = False
    if leave_namespaces(network=network):
        shared = ["/dev/shm"]
        held.append(f"namespaces of users, mounts{' and IPC' if network else ', IPC and network'}")
        in_run = any(f"{path}/".startswith("/run/") for path in (*read, *write))
        hidden = [] if network or in_run else ["/run"]
        kept = keep_other_files([*write, *sockets], hidden=hidden)
        held += ["other files mounted read-only"] if kept else []
    drop_capabilities()
    # In a folder of sockets there are things of others as well.
    keeps_metadata = not sets_modes and (not kept or bool(sockets))
    if forbid_calls(keeps_metadata=keeps_metadata, has_own_ipc=bool(shared)):
        held.insert(0, "filter of system calls")
    tasks = os.open(OWN_TASKS, os.O_PATH | os.O_DIRECTORY)  # type: ignore[attr-defined,unused-ignore] # Linux only
    os.set_inheritable(tasks, True)  # what it is must last: the rule holds for this very one
    if not forbid_other_files(read, [*write, *shared, os.fsdecode(OWN_TASKS)], sockets, network=network):
        return []
    return [f"Landlock {landlock_version()}", *held]


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
