"""Which system calls a confined program may make: the filter that `confinement.py` sets.

A list of what is refused, and an end: what Linux has got since is unknown to this list and answered as a
kernel without it would. Numbers are those of x86-64 and ARM64 (None: has it not); other machines have no
filter. Only the standard library, and only what starts fast.
"""

import os
import struct
import sys

ALLOWED, REFUSED, NO_SUCH_CALL, NO_ATTRIBUTES, DONE = 0x7FFF0000, 0x50001, 0x50026, 0x5005F, 0x50000
"""Go on; EPERM; ENOSYS; ENOTSUP; and success, without anything being done."""
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
FIRST_UNKNOWN = 463  # setxattrat, and whatever came behind it
X32 = 0x40000000
NEW_NAMESPACES = 0x7E020080
CLONE3 = 435

METADATA_OF_FILES = (  # chmod, fchmod, fchmodat, fchmodat2, chown, fchown, lchown, fchownat
    *((90, None), (91, 52), (268, 53), (452, 452), (92, None), (93, 55), (94, None), (260, 54)),
    *((132, None), (235, None), (261, None), (280, 88)),  # utime, utimes, futimesat, utimensat
)
ATTRIBUTES = ((188, 5), (189, 6), (190, 7), (197, 14), (198, 15), (199, 16))  # {set,remove}xattr, l…, f…
NEVER = (
    *((253, None), (294, 26), (254, 27), (300, 262), (301, 263)),  # inotify, fanotify
    *((101, 117), (310, 270), (311, 271), (312, 272)),  # ptrace, process_vm_readv, process_vm_writev, kcmp
    *((440, 440), (448, 448)),  # process_madvise, process_mrelease
    *((424, 424), (434, 434), (438, 438)),  # pidfd_send_signal, pidfd_open, pidfd_getfd
    *((256, 238), (279, 239)),  # migrate_pages, move_pages
    *((321, 280), (323, 282), (298, 241), (447, 447)),  # bpf, userfaultfd, perf_event_open, memfd_secret
    *((425, 425), (426, 426), (427, 427)),  # io_uring_setup, io_uring_enter, io_uring_register
    *((248, 217), (249, 218), (250, 219)),  # add_key, request_key, keyctl
    *((165, 40), (166, 39), (155, 41), (161, 51), (308, 268)),  # mount, umount2, pivot_root, chroot, setns
    *((428, 428), (429, 429), (430, 430), (431, 431), (432, 432), (433, 433)),  # open_tree … fspick
    *((442, 442), (443, 443), (179, 60), (167, 224), (168, 225)),  # mount_setattr, quotactl, swapon, swapoff
    *((303, 264), (304, 265)),  # name_to_handle_at, open_by_handle_at
    *((163, 89), (169, 142), (246, 104), (320, 294), (103, 116)),  # acct, reboot, kexec, syslog
    *((175, 105), (313, 273), (176, 106)),  # kernel modules
    *((164, 170), (159, 171), (227, 112), (305, 266)),  # clocks
    *((170, 161), (171, 162), (153, 58), (172, None), (173, None)),  # names of the machine, consoles, ports
)
SHARED_MEMORY = (
    *((29, 194), (30, 196), (31, 195), (64, 190), (65, 193), (66, 191), (220, 192)),  # shm…, sem…
    *((68, 186), (69, 189), (70, 188), (71, 187), (240, 180)),  # msg…, mq_open
)
"""Memory and messages that other programs of this user have, too, and that outlive a program."""
OF_OTHERS = ((144, 119), (142, 118), (314, 274))  # sched_setscheduler, sched_setparam, sched_setattr
AFFINITY, PRIORITY, IO_PRIORITY, LIMITS = (203, 122), (141, 140), (251, 30), (302, 261)
CLONE, UNSHARE, CONTROL, FILE_CONTROL = (56, 220), (272, 97), (16, 29), (72, 25)
CONTROLS = (  # flags, attributes, versions, encryption and sealing of files; typing on a terminal
    *(0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x40047602, 0x800C6613, 0x40806685),
    *(0x5412, 0x541C),
)
FILE_CONTROLS = (1024, 1026)  # leases, and word of changes in a folder

Step = tuple[int, int, int, int]  # code, how many steps to jump if it holds and if not, value
LOAD, EQUAL, AT_LEAST, ANY_OF, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06


def call_filter(machine: str, *, keeps_metadata: bool, has_own_ipc: bool) -> list[Step]:
    """Return the program of the filter; empty for a machine that it does not know.

    `keeps_metadata`: the calls that change metadata of files are answered as done and do nothing, for where
    no mount keeps what is outside the program's own folders as it is. `has_own_ipc`: it has a namespace for
    IPC; without one, the kernel seems to have no shared memory and no messages of System V.
    """
    if machine not in ARCHITECTURES or sys.byteorder != "little":
        return []
    architecture, column = ARCHITECTURES[machine]
    program: list[Step] = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, architecture), (ANSWER, 0, 0, REFUSED)]
    program += [(LOAD, 0, 0, 0), (AT_LEAST, 0, 1, X32), (ANSWER, 0, 0, REFUSED)]
    program += [(AT_LEAST, 0, 1, FIRST_UNKNOWN), (ANSWER, 0, 0, NO_SUCH_CALL)]

    def on(call: tuple[int | None, int | None], *steps: Step) -> None:
        if (number := call[column]) is not None:
            program.extend([(EQUAL, 0, len(steps), number), *steps])

    for call in NEVER:
        on(call, (ANSWER, 0, 0, REFUSED))
    if keeps_metadata:
        for call in METADATA_OF_FILES:
            on(call, (ANSWER, 0, 0, DONE))
        for call in ATTRIBUTES:
            on(call, (ANSWER, 0, 0, NO_ATTRIBUTES))
    for call in () if has_own_ipc else SHARED_MEMORY:
        on(call, (ANSWER, 0, 0, NO_SUCH_CALL))
    for call in OF_OTHERS:
        on(call, *_if_zero(0), (ANSWER, 0, 0, REFUSED))
    # Libraries bind their own threads, by their ids, and complain if they cannot.
    on(AFFINITY, *_if_zero(0), (ANSWER, 0, 0, DONE))
    on(PRIORITY, _load(0), (EQUAL, 0, 3, 0), *_if_zero(1), (ANSWER, 0, 0, REFUSED))
    on(IO_PRIORITY, _load(0), (EQUAL, 0, 3, 1), *_if_zero(1), (ANSWER, 0, 0, REFUSED))
    # Limits of others may be neither set nor, where they would be set, asked for: place of the new ones.
    set_or_not = (_load(2), (EQUAL, 0, 3, 0), _load(2, upper=True), (EQUAL, 0, 1, 0))
    on(LIMITS, *_if_zero(0), *set_or_not, (ANSWER, 0, 0, ALLOWED), (ANSWER, 0, 0, REFUSED))
    for call in (CLONE, UNSHARE):
        mask = NEW_NAMESPACES & ~(0x80 if call is CLONE else 0)  # there, that is part of a signal
        on(call, _load(0), (ANY_OF, 0, 1, mask), (ANSWER, 0, 0, REFUSED), (ANSWER, 0, 0, ALLOWED))
    on((CLONE3, CLONE3), (ANSWER, 0, 0, NO_SUCH_CALL))  # its flags cannot be seen; `clone` is taken instead
    for call, requests in ((CONTROL, CONTROLS), (FILE_CONTROL, FILE_CONTROLS)):
        checks = [step for r in requests for step in ((EQUAL, 0, 1, r), (ANSWER, 0, 0, REFUSED))]
        on(call, _load(1), *checks, (ANSWER, 0, 0, ALLOWED))
    return [*program, (ANSWER, 0, 0, ALLOWED)]


def _load(argument: int, *, upper: bool = False) -> Step:
    return (LOAD, 0, 0, 16 + 8 * argument + 4 * upper)


def _if_zero(argument: int) -> tuple[Step, ...]:
    """Continue if an argument is 0: the caller itself."""
    return (_load(argument), (EQUAL, 0, 1, 0), (ANSWER, 0, 0, ALLOWED))


def packed_filter(*, keeps_metadata: bool, has_own_ipc: bool) -> tuple[int, bytes]:
    """Return how many steps the filter of this machine has, and these as the kernel takes them."""
    program = call_filter(os.uname().machine, keeps_metadata=keeps_metadata, has_own_ipc=has_own_ipc)
    return len(program), b"".join(struct.pack("=HBBI", *step) for step in program)
