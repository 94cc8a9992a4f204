"""What a confined program cannot do to files, processes and the kernel, with namespaces and without."""

import contextlib
import ctypes
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from parsemark.system.processes import SUPERVISOR, held_by_confinement, why_not_confined
from parsemark.system.system_calls import (
    ALLOWED,
    ARCHITECTURES,
    DONE,
    LISTED,
    NO_ATTRIBUTES,
    NO_SUCH_CALL,
    REFUSED,
    call_filter,
    call_numbers,
)

confining = pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")
KEPT = "other files mounted read-only"

ATTACK = """
import ctypes, fcntl, json, os, socket, sys
sys.path.insert(0, sys.argv[1])
import confinement
own, victim, namespaces, kept = sys.argv[2], sys.argv[3], sys.argv[4] == "True", int(sys.argv[5])
if not namespaces:
    confinement.leave_namespaces = lambda **_: False
os.chdir(own)
held = confinement.confine(["/"], [own, "/dev/null"], [], network=False)
libc, done, parent = ctypes.CDLL(None, use_errno=True), [], os.getppid()
x86 = os.uname().machine == "x86_64"
def call(number, other, *arguments):
    if libc.syscall(number if x86 else other, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
path = victim.encode()
tries = {
    "chmod": lambda: os.chmod(victim, 0o4777),
    "fchmod": lambda: os.fchmod(os.open(victim, os.O_RDONLY), 0o4777),
    "fchmodat2": lambda: call(452, 452, -100, path, 0o4777, 0),
    "chmod of the folder": lambda: os.chmod(os.path.dirname(victim), 0),
    "chown": lambda: os.chown(victim, os.getuid(), os.getgid()),
    "lchown": lambda: os.lchown(victim, os.getuid(), os.getgid()),
    "utime": lambda: os.utime(victim, (1, 1)),
    "utime of a descriptor": lambda: os.utime(os.open(victim, os.O_RDONLY), (1, 1)),
    "setxattr": lambda: os.setxattr(victim, "user.kept", b"kept"),
    "fsetxattr": lambda: os.setxattr(os.open(victim, os.O_RDONLY), "user.kept", b"kept"),
    "setxattrat": lambda: call(463, 463, -100, path, 0, b"user.kept", 0, 0),
    "removexattr": lambda: os.removexattr(victim, "user.old"),
    "inotify": lambda: call(294, 26, 0),
    "fanotify": lambda: call(300, 262, 0, 0),
    "affinity": lambda: os.sched_setaffinity(parent, {min(os.sched_getaffinity(0))}),
    "scheduler": lambda: os.sched_setscheduler(parent, os.SCHED_BATCH, os.sched_param(0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, parent, 19),
    "priority of the user": lambda: os.setpriority(os.PRIO_USER, 0, 19),
    "io priority": lambda: call(251, 30, 1, parent, 3 << 13),
    "name of the parent": lambda: open(f"/proc/{parent}/task/{parent}/comm", "w").write("x"),
    "ptrace": lambda: call(101, 117, 16, parent, 0, 0),
    "memory of others": lambda: call(310, 270, parent, 0, 0, 0, 0, 0),
    "kcmp": lambda: call(312, 272, parent, os.getpid(), 0, 0, 0),
    "pidfd": lambda: call(434, 434, parent, 0),
    "bpf": lambda: call(321, 280, 0, 0, 0),
    "userfaultfd": lambda: call(323, 282, 1),
    "perf": lambda: call(298, 241, 0, 0, -1, -1, 0),
    "memfd_secret": lambda: call(447, 447, 0),
    "io_uring": lambda: call(425, 425, 4, ctypes.create_string_buffer(256)),
    "open_tree": lambda: call(428, 428, -100, path, 0),
    "mount_setattr": lambda: call(442, 442, -100, b"/", 0x8000, (ctypes.c_uint64 * 4)(0, 1), 32),
    "new namespaces": lambda: call(272, 97, 0x10000000),
    "flags of a file": lambda: fcntl.ioctl(os.open(victim, os.O_RDONLY), 0x40086602, b"\\0" * 8),
    "memory of an earlier run": lambda: call(29, 194, kept, 4096, 0),
    "messages of an earlier run": lambda: call(68, 186, kept, 0),
    "a call that is on no list": lambda: call(238, 237, 0, 0, 0),  # set_mempolicy
    "an old call that is on no list": lambda: call(139, 18, 3, 0, 0),  # sysfs, lookup_dcookie
    "the host of a virtual machine": lambda: socket.socket(40, socket.SOCK_STREAM),
    "lease": lambda: fcntl.fcntl(os.open(victim, os.O_RDONLY), 1024, 0),
}
for name, attempt in tries.items():
    try:
        attempt()
        done.append(name)
    except OSError:
        pass
with open("mine", "w") as file:
    file.write("mine")
os.chmod("mine", 0o751), os.utime("mine", (7, 7)), os.nice(0)
os.sched_setaffinity(0, os.sched_getaffinity(0))
with open(f"/proc/self/task/{os.getpid()}/comm", "w") as file:  # CUDA names its threads, or does not start
    file.write("named")
state = os.stat("mine")
print(json.dumps({"held": held, "done": done, "own": [state.st_mode & 0o777, state.st_mtime]}))
"""


@confining
@pytest.mark.parametrize("namespaces", [True, False])
def test_a_confined_program_changes_nothing_outside_its_folder(tmp_path: Path, namespaces: bool) -> None:
    own, victim = tmp_path / "own", tmp_path / "truth" / "page.json"
    own.mkdir()
    victim.parent.mkdir()
    victim.write_text("truth")
    with contextlib.suppress(OSError):  # not every file system has attributes
        os.setxattr(victim, "user.old", b"old")

    def state() -> list[object]:
        files = [path.stat() for path in (victim, victim.parent)]
        seen: list[object] = [(f.st_mode, f.st_uid, f.st_mtime_ns, f.st_ctime_ns) for f in files]
        here = os.getpid()
        return [*seen, os.sched_getaffinity(here), os.sched_getscheduler(here), os.getpriority(0, here)]

    before, attributes = state(), os.listxattr(victim)
    libc, kept_key = ctypes.CDLL(None, use_errno=True), 0x5EED0000 + os.getpid() % 0xFFFF
    memory, messages = libc.shmget(kept_key, 4096, 0o1600), libc.msgget(kept_key, 0o1600)
    command = [sys.executable, "-I", "-S", "-c", ATTACK, str(SUPERVISOR.parent), str(own), str(victim)]
    try:
        command += [str(namespaces), str(kept_key)]
        ran = subprocess.run(command, capture_output=True, check=True)
    finally:
        libc.shmctl(memory, 0, None), libc.msgctl(messages, 0, None)
    found = json.loads(ran.stdout)
    assert state() == before and os.listxattr(victim) == attributes
    kept = KEPT in found["held"]
    answered_as_done = ["affinity"]
    if not kept:
        calls = ("chmod", "fchmod", "fchmodat2", "chmod of the folder", "chown", "lchown", "utime")
        answered_as_done = [*calls, "utime of a descriptor", "affinity"]
    assert found["done"] == answered_as_done
    assert kept == (namespaces and KEPT in held_by_confinement())
    assert not kept or found["own"] == [0o751, 7.0]


# --- The filter, run step by step for both machines ---------------------------------------------------

ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {  # by name: numbers on both machines, from the kernel's tables
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "setxattrat": (463, 463),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "process_madvise": (440, 440),
    "process_mrelease": (448, 448), "kcmp": (312, 272), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "bpf": (321, 280),
    "userfaultfd": (323, 282), "perf_event_open": (298, 241), "memfd_secret": (447, 447),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "setns": (308, 268), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsmount": (432, 432), "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467), "open_by_handle_at": (304, 265), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "clone3": (435, 435), "get_mempolicy": (239, 236), "mbind": (237, 235),
    "set_mempolicy": (238, 237), "set_mempolicy_home_node": (450, 450), "unshare": (272, 97),
    "modify_ldt": (154, None), "iopl": (172, None), "ustat": (136, None), "sysfs": (139, None),
    "lookup_dcookie": (212, 18), "quotactl_fd": (443, 443), "acct": (163, 89), "reboot": (169, 142),
    "kexec_load": (246, 104), "init_module": (175, 105), "settimeofday": (164, 170),
    "clock_adjtime": (305, 266), "sethostname": (170, 161), "syslog": (103, 116), "vhangup": (153, 58),
    "swapon": (167, 224), "chroot": (161, 51), "statmount": (457, 457), "listmount": (458, 458),
}  # fmt: skip
ORDINARY = {
    "read": (0, 63), "write": (1, 64), "openat": (257, 56), "mmap": (9, 222), "futex": (202, 98),
    "execve": (59, 221), "exit_group": (231, 94), "getxattr": (191, 8), "getrandom": (318, 278),
    "memfd_create": (319, 279), "landlock_restrict_self": (446, 446), "seccomp": (317, 277),
    "rename": (82, None), "renameat2": (316, 276), "unlinkat": (263, 35), "ftruncate": (77, 46),
    "wait4": (61, 260), "kill": (62, 129), "epoll_pwait2": (441, 441), "close_range": (436, 436),
    "newfstatat": (262, 79), "statx": (332, 291), "faccessat2": (439, 439), "mseal": (462, 462),
}  # fmt: skip


REPLACED = ("clone3", "get_mempolicy", "mbind", "set_mempolicy")  # programs have another way


def answer(machine: str, number: int, *arguments: int, architecture: int | None = None, keeps: bool) -> int:
    """What the filter says of a call: the kernel's steps, one by one."""
    words = {0: number, 4: ARCHITECTURE[machine] if architecture is None else architecture}
    for k, value in enumerate(arguments):
        words |= {16 + 8 * k: value & 0xFFFFFFFF, 20 + 8 * k: value >> 32 & 0xFFFFFFFF}
    program, at, held = call_filter(machine, keeps_metadata=keeps, has_own_ipc=not keeps), 0, 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == 0x20:
            held = words.get(value, 0)
        elif code == 0x06:
            return value
        else:
            holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += if_true if holds else if_false


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("keeps", [True, False])
def test_the_filter_on_both_machines(machine: str, keeps: bool) -> None:
    column = list(ARCHITECTURE).index(machine)

    def asked(name: str, *arguments: int) -> int:
        number = {**CALLS, **ORDINARY}[name][column]
        return REFUSED if number is None else answer(machine, number, *arguments, keeps=keeps)

    for name, numbers in CALLS.items():
        if (number := numbers[column]) is None:
            continue
        if name in REPLACED or number >= 463:  # from 463 on both machines have the same numbers
            expected = NO_SUCH_CALL
        elif re.search("chmod|chown|utime", name):
            expected = DONE if keeps else ALLOWED
        elif name.endswith("xattr"):
            expected = NO_ATTRIBUTES if keeps else ALLOWED
        elif re.match("shm|sem|msg|mq_", name):
            expected = NO_SUCH_CALL if keeps else ALLOWED
        else:
            expected = REFUSED
        assert asked(name) == expected, name
    for name, numbers in ORDINARY.items():
        if numbers[column] is not None:
            assert asked(name) == ALLOWED, name
    for calls, own, other in (
        ((302, 261), (0, 3, 1 << 40), (7, 3, 1 << 40)),  # prlimit
        ((203, 122), (0,), None),  # sched_setaffinity
        ((144, 119), (0,), (7,)),  # sched_setscheduler
        ((141, 140), (0, 0, 5), (0, 7, 5)),  # setpriority
        ((251, 30), (1, 0, 5), (1, 7, 5)),  # ioprio_set
        ((56, 220), (0x3D0F00,), (0x20000,)),  # clone: a thread, and a namespace of mounts
        ((41, 198), (2,), (40,)),  # socket: of the internet, and of the host of a virtual machine
        ((135, 92), (0xFFFFFFFF,), (0x40000,)),  # personality
        ((16, 29), (3, 0x5401), (3, 0x40086602)),  # ioctl
        ((72, 25), (3, 4), (3, 1026)),  # fcntl
    ):
        assert answer(machine, calls[column], *own, keeps=keeps) == ALLOWED
        if other is not None:
            assert answer(machine, calls[column], *other, keeps=keeps) == REFUSED
    assert answer(machine, (302, 261)[column], 7, 3, 0, keeps=keeps) == ALLOWED  # limits of others are read
    assert answer(machine, (203, 122)[column], 7, keeps=keeps) == DONE
    assert answer(machine, (141, 140)[column], 2, 0, 5, keeps=keeps) == REFUSED
    assert answer(machine, 0, architecture=0x40000003, keeps=keeps) == REFUSED  # 32 bits
    assert answer(machine, 0x40000000 + 90, keeps=keeps) == REFUSED  # x32
    assert answer(machine, 5000, keeps=keeps) == NO_SUCH_CALL


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_only_listed_calls_are_allowed(machine: str) -> None:
    column, listed = list(ARCHITECTURE).index(machine), call_numbers(LISTED, machine)
    refused = {
        name: n[column] for name, n in CALLS.items() if not re.search("chmod|chown|utime|xattr$", name)
    }
    assert not refused.keys() & listed.keys()
    assert not set(refused.values()) & set(listed.values())
    for keeps in (True, False):
        for number in {*range(600), 0x3FFFFFFF} - set(listed.values()):
            assert answer(machine, number, keeps=keeps) in (REFUSED, NO_SUCH_CALL), number


def test_the_tables_of_both_machines_agree_by_name() -> None:
    tables = [call_numbers(LISTED, machine) for machine in ARCHITECTURES]
    names = [entry.split()[0] for entry in LISTED.split(",")]
    assert names == sorted(set(names)) == sorted({*tables[0], *tables[1]})
    for table in tables:
        assert len(set(table.values())) == len(table)
    # ARM64 has no calls of its own here, and lacks only those that newer calls replace.
    assert not tables[1].keys() - tables[0].keys()
    replaced = {
        *("access", "alarm", "arch_prctl", "chmod", "chown", "creat", "dup2", "epoll_create", "epoll_wait"),
        *(
            "eventfd",
            "fork",
            "futimesat",
            "get_thread_area",
            "getdents",
            "getpgrp",
            "lchown",
            "link",
            "lstat",
        ),
        *("mkdir", "mknod", "open", "pause", "pipe", "poll", "readlink", "rename", "rmdir", "select"),
        *("set_thread_area", "signalfd", "stat", "symlink", "time", "unlink", "uretprobe", "utime", "utimes"),
        "vfork",
    }
    assert tables[0].keys() - tables[1].keys() == replaced
    # Since Linux 5.1, all machines number new calls alike.
    assert all(tables[1][name] == n for name, n in tables[0].items() if n >= 424)


HEADERS = {"x86_64": "x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_tables_are_those_of_the_kernel(machine: str) -> None:
    header = Path("/usr/include") / HEADERS[machine]
    if not header.exists():
        pytest.skip("needs the kernel's headers")
    defined = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    kernel = {name: int(number) for name, number in defined} | {
        "newfstatat": 262 if machine == "x86_64" else 79
    }
    listed = call_numbers(LISTED, machine)
    assert {name: n for name, n in listed.items() if kernel.get(name, n) != n} == {}
    assert len(listed.keys() & kernel.keys()) > 230
