"""Instructions of classic BPF, of which filters of system calls are made."""

from __future__ import annotations

import ctypes
import struct

MACHINES = {"x86_64": (0xC000003E, 317, 1), "aarch64": (0xC00000B7, 277, 2)}
"""The architecture's mark, the number of seccomp(2) itself, and the column in tables of calls."""

ALLOW, ERRNO = 0x7FFF0000, 0x00050000

_SET_MODE_FILTER = 1


def instruction(code: int, if_true: int, if_false: int, value: int) -> bytes:
    """Return an instruction."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def load(offset: int) -> bytes:
    """Load a word of the call: 0 its number, 4 the architecture, from 16 on the arguments."""
    return instruction(0x20, 0, 0, offset)


def jump_if(value: int, if_equal: int, otherwise: int) -> bytes:
    """Skip one of two numbers of instructions, by whether the word equals a value."""
    return instruction(0x15, if_equal, otherwise, value)


def finish(action: int) -> bytes:
    """End the filter with an action."""
    return instruction(0x06, 0, 0, action)


def install(program: bytes, flags: int, number: int) -> int:
    """Install a filter in this process; return the result of seccomp(2), whose number is given."""
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, and where they are.
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, _SET_MODE_FILTER, flags, described))
