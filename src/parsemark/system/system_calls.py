"""Which system calls a confined program may make: the filter that `confinement.py` sets.

A list of what is allowed, taken from Docker's default profile for containers without capabilities. It leaves
out clocks, file notifications, handles of processes, io_uring and secret memory. Machines other than x86-64
and ARM64 have no filter. Only the standard library, and only what starts fast.
"""

import os
import struct
import sys

ALLOWED, REFUSED, NO_SUCH_CALL, NO_ATTRIBUTES, DONE = 0x7FFF0000, 0x50001, 0x50026, 0x5005F, 0x50000
"""Go on; EPERM; ENOSYS; ENOTSUP; and success, without anything being done."""
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FIRST_UNKNOWN = 463  # setxattrat, and whatever came behind it: answered as by an older kernel
X32 = 0x40000000
NEW_NAMESPACES = 0x7E020000

LISTED = """
accept 43 202, accept4 288 242, access 21 -, alarm 37 -, arch_prctl 158 -, bind 49 200, brk 12 214,
cachestat 451 451, capget 125 90, capset 126 91, chdir 80 49, chmod 90 -, chown 92 -, clock_getres 229 114,
clock_gettime 228 113, clock_nanosleep 230 115, clone 56 220, close 3 57, close_range 436 436,
connect 42 203, copy_file_range 326 285, creat 85 -, dup 32 23, dup2 33 -, dup3 292 24, epoll_create 213 -,
epoll_create1 291 20, epoll_ctl 233 21, epoll_pwait 281 22, epoll_pwait2 441 441, epoll_wait 232 -,
eventfd 284 -, eventfd2 290 19, execve 59 221, execveat 322 281, exit 60 93, exit_group 231 94,
faccessat 269 48, faccessat2 439 439, fadvise64 221 223, fallocate 285 47, fchdir 81 50, fchmod 91 52,
fchmodat 268 53, fchmodat2 452 452, fchown 93 55, fchownat 260 54, fcntl 72 25, fdatasync 75 83,
fgetxattr 193 10, flistxattr 196 13, flock 73 32, fork 57 -, fremovexattr 199 16, fsetxattr 190 7,
fstat 5 80, fstatfs 138 44, fsync 74 82, ftruncate 77 46, futex 202 98, futex_requeue 456 456,
futex_wait 455 455, futex_waitv 449 449, futex_wake 454 454, futimesat 261 -, get_robust_list 274 100,
get_thread_area 211 -, getcpu 309 168, getcwd 79 17, getdents 78 -, getdents64 217 61, getegid 108 177,
geteuid 107 175, getgid 104 176, getgroups 115 158, getitimer 36 102, getpeername 52 205, getpgid 121 155,
getpgrp 111 -, getpid 39 172, getppid 110 173, getpriority 140 141, getrandom 318 278, getresgid 120 150,
getresuid 118 148, getrlimit 97 163, getrusage 98 165, getsid 124 156, getsockname 51 204, getsockopt 55 209,
gettid 186 178, gettimeofday 96 169, getuid 102 174, getxattr 191 8, io_cancel 210 3, io_destroy 207 1,
io_getevents 208 4, io_pgetevents 333 292, io_setup 206 0, io_submit 209 2, ioctl 16 29, ioprio_get 252 31,
ioprio_set 251 30, kill 62 129, landlock_add_rule 445 445, landlock_create_ruleset 444 444,
landlock_restrict_self 446 446, lchown 94 -, lgetxattr 192 9, link 86 -, linkat 265 37, listen 50 201,
listxattr 194 11, llistxattr 195 12, lremovexattr 198 15, lseek 8 62, lsetxattr 189 6, lstat 6 -,
madvise 28 233, map_shadow_stack 453 453, membarrier 324 283, memfd_create 319 279, mincore 27 232,
mkdir 83 -, mkdirat 258 34, mknod 133 -, mknodat 259 33, mlock 149 228, mlock2 325 284, mlockall 151 230,
mmap 9 222, mprotect 10 226, mq_getsetattr 245 185, mq_notify 244 184, mq_open 240 180,
mq_timedreceive 243 183, mq_timedsend 242 182, mq_unlink 241 181, mremap 25 216, mseal 462 462,
msgctl 71 187, msgget 68 186, msgrcv 70 188, msgsnd 69 189, msync 26 227, munlock 150 229,
munlockall 152 231, munmap 11 215, nanosleep 35 101, newfstatat 262 79, open 2 -, openat 257 56,
openat2 437 437, pause 34 -, personality 135 92, pipe 22 -, pipe2 293 59, pkey_alloc 330 289,
pkey_free 331 290, pkey_mprotect 329 288, poll 7 -, ppoll 271 73, prctl 157 167, pread64 17 67,
preadv 295 69, preadv2 327 286, prlimit64 302 261, pselect6 270 72, pwrite64 18 68, pwritev 296 70,
pwritev2 328 287, read 0 63, readahead 187 213, readlink 89 -, readlinkat 267 78, readv 19 65,
recvfrom 45 207, recvmmsg 299 243, recvmsg 47 212, remap_file_pages 216 234, removexattr 197 14, rename 82 -,
renameat 264 38, renameat2 316 276, restart_syscall 219 128, rmdir 84 -, rseq 334 293, rt_sigaction 13 134,
rt_sigpending 127 136, rt_sigprocmask 14 135, rt_sigqueueinfo 129 138, rt_sigreturn 15 139,
rt_sigsuspend 130 133, rt_sigtimedwait 128 137, rt_tgsigqueueinfo 297 240, sched_get_priority_max 146 125,
sched_get_priority_min 147 126, sched_getaffinity 204 123, sched_getattr 315 275, sched_getparam 143 121,
sched_getscheduler 145 120, sched_rr_get_interval 148 127, sched_setaffinity 203 122, sched_setattr 314 274,
sched_setparam 142 118, sched_setscheduler 144 119, sched_yield 24 124, seccomp 317 277, select 23 -,
semctl 66 191, semget 64 190, semop 65 193, semtimedop 220 192, sendfile 40 71, sendmmsg 307 269,
sendmsg 46 211, sendto 44 206, set_robust_list 273 99, set_thread_area 205 -, set_tid_address 218 96,
setfsgid 123 152, setfsuid 122 151, setgid 106 144, setgroups 116 159, setitimer 38 103, setpgid 109 154,
setpriority 141 140, setregid 114 143, setresgid 119 149, setresuid 117 147, setreuid 113 145,
setrlimit 160 164, setsid 112 157, setsockopt 54 208, setuid 105 146, setxattr 188 5, shmat 30 196,
shmctl 31 195, shmdt 67 197, shmget 29 194, shutdown 48 210, sigaltstack 131 132, signalfd 282 -,
signalfd4 289 74, socket 41 198, socketpair 53 199, splice 275 76, stat 4 -, statfs 137 43, statx 332 291,
symlink 88 -, symlinkat 266 36, sync 162 81, sync_file_range 277 84, syncfs 306 267, sysinfo 99 179,
tee 276 77, tgkill 234 131, time 201 -, timer_create 222 107, timer_delete 226 111, timer_getoverrun 225 109,
timer_gettime 224 108, timer_settime 223 110, timerfd_create 283 85, timerfd_gettime 287 87,
timerfd_settime 286 86, times 100 153, tkill 200 130, truncate 76 45, umask 95 166, uname 63 160,
unlink 87 -, unlinkat 263 35, uretprobe 335 -, utime 132 -, utimensat 280 88, utimes 235 -, vfork 58 -,
vmsplice 278 75, wait4 61 260, waitid 247 95, write 1 64, writev 20 66
"""
"""Name, and numbers on x86-64 and ARM64; "-" where the machine does not have the call."""
REPLACED = "clone3 435 435, get_mempolicy 239 236, mbind 237 235, set_mempolicy 238 237"
"""Calls that fail as if the kernel did not have them: programs have another way then. The flags of `clone3`
cannot be seen.
"""

METADATA_OF_FILES = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat"),
)
ATTRIBUTES = ("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr")
SHARED_MEMORY = (
    *("shmget", "shmctl", "shmat", "semget", "semop", "semctl", "semtimedop"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
)
"""Memory and messages that other programs of this user have, too, and that outlive a program."""
OF_OTHERS = ("sched_setscheduler", "sched_setparam", "sched_setattr")
VIRTUAL_SOCKETS = 40  # they reach the host of a virtual machine
PERSONALITIES = (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)  # short addresses, an old version; to ask
CONTROLS = (  # flags, attributes, versions, encryption and sealing of files; typing on a terminal
    *(0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x40047602, 0x800C6613, 0x40806685),
    *(0x5412, 0x541C),
)
FILE_CONTROLS = (1024, 1026)  # leases, and word of changes in a folder

Step = tuple[int, int, int, int]  # code, how many steps to jump if it holds and if not, value
LOAD, EQUAL, AT_LEAST, ANY_OF, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06


def call_numbers(listed: str, machine: str) -> dict[str, int]:
    """Return the numbers of the listed calls on one machine, without those that it does not have."""
    column = 1 + list(ARCHITECTURES).index(machine)
    words = [entry.split() for entry in listed.split(",")]
    return {word[0]: int(word[column]) for word in words if word[column] != "-"}


def call_filter(machine: str, *, keeps_metadata: bool, has_own_ipc: bool) -> list[Step]:
    """Return the program of the filter; empty for a machine that it does not know.

    `keeps_metadata`: the calls that change metadata of files are answered as done and do nothing, for where
    no mount keeps what is outside the program's own folders as it is. `has_own_ipc`: it has a namespace for
    IPC; without one, the kernel seems to have no shared memory and no messages of System V.
    """
    if machine not in ARCHITECTURES or sys.byteorder != "little":
        return []
    allowed = call_numbers(LISTED, machine)
    program: list[Step] = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, ARCHITECTURES[machine]), (ANSWER, 0, 0, REFUSED)]
    program += [(LOAD, 0, 0, 0), (AT_LEAST, 0, 1, X32), (ANSWER, 0, 0, REFUSED)]
    program += [(AT_LEAST, 0, 1, FIRST_UNKNOWN), (ANSWER, 0, 0, NO_SUCH_CALL)]

    def on(call: str, *steps: Step) -> None:
        if (number := allowed.pop(call, None)) is not None:
            program.extend([(EQUAL, 0, len(steps), number), *steps])

    for call in METADATA_OF_FILES if keeps_metadata else ():
        on(call, (ANSWER, 0, 0, DONE))
    for call in ATTRIBUTES if keeps_metadata else ():
        on(call, (ANSWER, 0, 0, NO_ATTRIBUTES))
    for call in () if has_own_ipc else SHARED_MEMORY:
        on(call, (ANSWER, 0, 0, NO_SUCH_CALL))
    for call in OF_OTHERS:
        on(call, *_if_zero(0), (ANSWER, 0, 0, REFUSED))
    # Libraries bind their own threads, by their ids, and complain if they cannot.
    on("sched_setaffinity", *_if_zero(0), (ANSWER, 0, 0, DONE))
    on("setpriority", _load(0), (EQUAL, 0, 3, 0), *_if_zero(1), (ANSWER, 0, 0, REFUSED))
    on("ioprio_set", _load(0), (EQUAL, 0, 3, 1), *_if_zero(1), (ANSWER, 0, 0, REFUSED))
    # Limits of others may be neither set nor, where they would be set, asked for: place of the new ones.
    set_or_not = (_load(2), (EQUAL, 0, 3, 0), _load(2, upper=True), (EQUAL, 0, 1, 0))
    on("prlimit64", *_if_zero(0), *set_or_not, (ANSWER, 0, 0, ALLOWED), (ANSWER, 0, 0, REFUSED))
    on("clone", _load(0), (ANY_OF, 0, 1, NEW_NAMESPACES), (ANSWER, 0, 0, REFUSED), (ANSWER, 0, 0, ALLOWED))
    for call, place, values, listed, other in (
        ("ioctl", 1, CONTROLS, REFUSED, ALLOWED),
        ("fcntl", 1, FILE_CONTROLS, REFUSED, ALLOWED),
        ("socket", 0, (VIRTUAL_SOCKETS,), REFUSED, ALLOWED),
        ("personality", 0, PERSONALITIES, ALLOWED, REFUSED),
    ):
        checks = [step for value in values for step in ((EQUAL, 0, 1, value), (ANSWER, 0, 0, listed))]
        on(call, _load(place), *checks, (ANSWER, 0, 0, other))
    for number in call_numbers(REPLACED, machine).values():
        program += [(EQUAL, 0, 1, number), (ANSWER, 0, 0, NO_SUCH_CALL)]
    rest = sorted(allowed.values())
    while rest:  # runs of numbers
        start = end = rest.pop(0)
        while rest[:1] == [end + 1]:
            end = rest.pop(0)
        program += [(AT_LEAST, 3, 0, end + 1), (AT_LEAST, 0, 1, start)]
        program += [(ANSWER, 0, 0, ALLOWED), (ANSWER, 0, 0, REFUSED)]
    return [*program, (ANSWER, 0, 0, REFUSED)]


def _load(argument: int, *, upper: bool = False) -> Step:
    return (LOAD, 0, 0, 16 + 8 * argument + 4 * upper)


def _if_zero(argument: int) -> tuple[Step, ...]:
    """Continue if an argument is 0: the caller itself."""
    return (_load(argument), (EQUAL, 0, 1, 0), (ANSWER, 0, 0, ALLOWED))


def packed_filter(*, keeps_metadata: bool, has_own_ipc: bool) -> tuple[int, bytes]:
    """Return how many steps the filter of this machine has, and these as the kernel takes them."""
    program = call_filter(os.uname().machine, keeps_metadata=keeps_metadata, has_own_ipc=has_own_ipc)
    return len(program), b"".join(struct.pack("=HBBI", *step) for step in program)
