"""Rules that the Linux kernel enforces on this process until it ends: Landlock, seccomp and limits.

https://docs.kernel.org/userspace-api/landlock.html, https://man7.org/linux/man-pages/man2/seccomp.2.html
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
from collections.abc import Iterable
from pathlib import Path

from data_generator.confinement.bpf import (
    ALLOW,
    ERRNO,
    MACHINES,
    finish,
    install,
    instruction,
    jump_if,
    load,
)

# Option of prctl(2) for the signal that a process gets when its parent dies.
_PR_SET_PDEATHSIG = 1

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38

# What may not be prevented.
_PRIVILEGES = "gaining privileges"
_WRITING = "writing outside of its folder"
_NETWORK = "using the network or starting programs"

# Landlock: the same numbers on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE = 1 << 0, 1 << 1
_REMOVE, _MAKE_DIR, _MAKE_REG = (1 << 4) | (1 << 5), 1 << 7, 1 << 8
_MAKE_OTHERS = (1 << 6) | (1 << 9) | (1 << 10) | (1 << 11) | (1 << 12)
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_NET_ALL, _SCOPE_ALL = 0b11, 0b11
_VERSION_REFER, _VERSION_TRUNCATE, _VERSION_NET, _VERSION_IOCTL, _VERSION_SCOPE = 2, 3, 4, 5, 6

# Flag of seccomp: the filter is for all threads.
_TSYNC = 1

# capget and capset, the version of their structures, and CAP_DAC_OVERRIDE with CAP_DAC_READ_SEARCH.
_CAPABILITIES = {"x86_64": (125, 126), "aarch64": (90, 91)}
_CAPABILITY_VERSION, _KEPT_CAPABILITIES = 0x20080522, 0b110

# The last system call that was looked at; later ones do not exist for a confined process.
NEWEST_CALL = 466

# System calls that no reader needs: name, number on x86_64, number on aarch64; "-" where it is missing.
_DENIED = """
setpriority 141 140, ioprio_set 251 30, sched_setscheduler 144 119, sched_setparam 142 118,
sched_setattr 314 274, socket 41 198, connect 42 203, accept 43 202, bind 49 200, listen 50 201,
accept4 288 242, fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, ptrace 101 117,
process_vm_readv 310 270, process_vm_writev 311 271, tkill 200 130, rt_sigqueueinfo 129 138,
rt_tgsigqueueinfo 297 240, pidfd_open 434 434, pidfd_send_signal 424 424, pidfd_getfd 438 438,
kcmp 312 272, process_madvise 440 440, move_pages 279 239, migrate_pages 256 238, mount 165 40,
umount2 166 39, pivot_root 155 41, chroot 161 51, setns 308 268, unshare 272 97, open_tree 428 428,
move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433,
mount_setattr 442 442, open_by_handle_at 304 265, name_to_handle_at 303 264, bpf 321 280,
perf_event_open 298 241, userfaultfd 323 282, keyctl 250 219, add_key 248 217, request_key 249 218,
io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, kexec_load 246 104,
kexec_file_load 320 294, init_module 175 105, finit_module 313 273, delete_module 176 106,
reboot 169 142, swapon 167 224, swapoff 168 225, sethostname 170 161, setdomainname 171 162,
settimeofday 164 170, clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171, acct 163 89,
quotactl 179 60, quotactl_fd 443 443, syslog 103 116, iopl 172 -, ioperm 173 -, modify_ldt 154 -,
uselib 134 -, personality 135 92, setuid 105 146, setgid 106 144, setreuid 113 145,
setregid 114 143, setgroups 116 159, setresuid 117 147, setresgid 119 149, capset 126 91,
setrlimit 160 164, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -,
fchown 93 55, lchown 94 -, fchownat 260 54, setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7,
setxattrat 463 463, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
removexattrat 466 466, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88,
memfd_create 319 279, memfd_secret 447 447, shmget 29 194, msgget 68 186, semget 64 190,
mq_open 240 180, fanotify_init 300 262
"""
_CLONE = (56, 220)
_CLONE3 = 435
_CLONE_THREAD = 0x10000
_SOCKETPAIR, _AF_UNIX = (53, 199), 1
_KILL, _TGKILL = (62, 129), (234, 131)
_PRLIMIT, _PRCTL, _IOCTL, _MMAP = (302, 261), (157, 167), (16, 29), (9, 222)
# Typing into a terminal.
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
# Shared memory without a file counts for no limit.
_SHARED_ANONYMOUS = 0x21


def confine(writable: Iterable[Path], memory_bytes: int, file_bytes: int, cpu_seconds: int) -> list[str]:
    """Confine this process, which must have one thread, and all threads to come.

    It may read files, and write below some folders; it may not use the network, start programs or
    processes, reach other processes, change the attributes of files, or exceed its limits.

    Parameters
    ----------
    writable : iterable of pathlib.Path
        Existing folders to write in.
    memory_bytes : int
        Private memory of the process.
    file_bytes : int
        Size of each file that it writes.
    cpu_seconds : int
        CPU time of all its threads.

    Returns
    -------
    list of str
        Gaps that the kernel cannot close.
    """
    _limit(memory_bytes, file_bytes, cpu_seconds)
    if platform.system() != "Linux":
        return [_PRIVILEGES, _WRITING, _NETWORK]
    gaps = []
    if _prctl(_PR_SET_NO_NEW_PRIVS, 1) != 0:
        gaps.append(_PRIVILEGES)
    _drop_capabilities()
    gaps += _landlock(writable)
    gaps += _seccomp()
    return gaps


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when the thread that started it ends.

    Parameters
    ----------
    parent : int
        Id of the process of that thread.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # the parent died before the kernel was asked


def _prctl(option: int, value: int) -> int:
    if not hasattr(_libc(), "prctl"):
        return -1
    return int(_libc().prctl(option, value, 0, 0, 0))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _limit(memory_bytes: int, file_bytes: int, cpu_seconds: int) -> None:
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: memory_bytes,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_CPU: cpu_seconds,
    }
    for kind, value in wanted.items():
        hard = resource.getrlimit(kind)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (least, least))


def _drop_capabilities() -> None:
    """Give up root's rights, except to open files regardless of their permissions."""
    if platform.machine() not in MACHINES:
        return
    get, put = _CAPABILITIES[platform.machine()]
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0), 8)
    data = ctypes.create_string_buffer(24)
    if _libc().syscall(get, header, data) == 0:
        permitted = struct.unpack("=6I", data.raw)[1] & _KEPT_CAPABILITIES
        # Effective, permitted and inheritable: first the lower 32 of each, then the upper ones.
        _libc().syscall(put, header, struct.pack("=6I", permitted, permitted, 0, 0, 0, 0))


def _landlock(writable: Iterable[Path]) -> list[str]:
    """Forbid writing outside of some folders; return the gaps that the kernel leaves."""
    libc = _libc()
    version = libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    if version < 1:
        return [_WRITING]
    allowed = _WRITE_FILE | _REMOVE | _MAKE_DIR | _MAKE_REG
    allowed |= _REFER if version >= _VERSION_REFER else 0
    allowed |= _TRUNCATE if version >= _VERSION_TRUNCATE else 0
    handled = allowed | _EXECUTE | _MAKE_OTHERS | (_IOCTL_DEV if version >= _VERSION_IOCTL else 0)
    net = _NET_ALL if version >= _VERSION_NET else 0
    scope = _SCOPE_ALL if version >= _VERSION_SCOPE else 0
    size = 24 if scope else 16 if net else 8
    attributes = struct.pack("=QQQ", handled, net, scope)[:size]
    rules = libc.syscall(_CREATE_RULESET, attributes, size, 0)
    if rules < 0:
        return [_WRITING]
    places = [(path, allowed) for path in writable]
    places.append((Path(os.devnull), allowed & (_WRITE_FILE | _TRUNCATE)))
    for path, rights in places:
        # The type of a file's descriptor without permission to read or write it.
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", rights, place)
        done = libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0)
        os.close(place)
        if done != 0:
            raise OSError(ctypes.get_errno(), "a rule of Landlock was refused", str(path))
    done = libc.syscall(_RESTRICT_SELF, rules, 0)
    os.close(rules)
    if done != 0:
        return [_WRITING]
    return [] if version >= _VERSION_TRUNCATE else ["cutting files outside of its folder"]


def _seccomp() -> list[str]:
    """Forbid the system calls that no reader needs; return the gaps that the kernel leaves."""
    if platform.machine() not in MACHINES:
        return [_NETWORK]
    architecture, number, column = MACHINES[platform.machine()]
    program = _filter(architecture, column)
    return [_NETWORK] if install(program, _TSYNC, number) else []


def _filter(architecture: int, column: int) -> bytes:
    """Return the program of the filter in classic BPF."""
    place = column - 1
    denied, absent = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS
    code = [load(4), jump_if(architecture, 1, 0), finish(denied), load(0)]
    # Larger numbers are later calls, or those of another convention on the same machine.
    code += [instruction(0x25, 0, 1, NEWEST_CALL), finish(absent)]
    code += [jump_if(_CLONE3, 0, 1), finish(absent)]  # its flags are out of reach; libraries use clone
    for entry in _DENIED.replace("\n", " ").split(","):
        number = entry.split()[column]
        if number != "-":
            code += [jump_if(int(number), 0, 1), finish(denied)]

    def only(call: int, argument: int, *, equals: int) -> None:
        code.extend([jump_if(call, 0, 4), load(16 + 8 * argument)])
        code.extend([jump_if(equals, 0, 1), finish(ALLOW), finish(denied)])

    def never(call: int, argument: int, *values: int, mask: int = 0xFFFFFFFF) -> None:
        tests = []
        for left, value in zip(range(len(values), 0, -1), values, strict=True):
            tests.append(jump_if(value, left, 0))
        code.extend([jump_if(call, 0, 4 + len(tests)), load(16 + 8 * argument)])
        code.extend([instruction(0x54, 0, 0, mask), *tests, finish(ALLOW), finish(denied)])

    only(_SOCKETPAIR[place], 0, equals=_AF_UNIX)
    only(_KILL[place], 0, equals=os.getpid())
    only(_TGKILL[place], 0, equals=os.getpid())
    # Threads may be made, processes may not.
    code += [jump_if(_CLONE[place], 0, 4), load(16), instruction(0x45, 0, 1, _CLONE_THREAD)]
    code += [finish(ALLOW), finish(denied)]
    # prlimit that only asks has no address of new limits: both halves of it are 0.
    code += [jump_if(_PRLIMIT[place], 0, 6), load(32), jump_if(0, 0, 3), load(36)]
    code += [jump_if(0, 0, 1), finish(ALLOW), finish(denied)]
    never(_PRCTL[place], 0, _PR_SET_PDEATHSIG, _PR_SET_DUMPABLE)
    never(_IOCTL[place], 1, _TIOCSTI, _TIOCLINUX)
    never(_MMAP[place], 3, _SHARED_ANONYMOUS, mask=_SHARED_ANONYMOUS)
    return b"".join([*code, finish(ALLOW)])
