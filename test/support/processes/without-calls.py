"""Runs a program for which some calls of the kernel do not exist: without-calls.py symlink,link COMMAND..."""

import ctypes
import os
import struct
import sys

# System call numbers of x86_64 and aarch64.
NUMBERS = {
    'x86_64': {'link': (86, 265), 'symlink': (88, 266), 'fsync': (74,), 'rename': (82, 264, 316)},
    'aarch64': {'link': (37,), 'symlink': (36,), 'fsync': (82,), 'rename': (38, 276)},
}
ENOSYS = 38
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000

calls, command = sys.argv[1].split(','), sys.argv[2:]
numbers = [number for call in calls for number in NUMBERS[os.uname().machine][call]]
program = [(LOAD, 0, 0, 0)]
for at, number in enumerate(numbers):
    program.append((EQUAL, len(numbers) - at, 0, number))
program += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ERRNO | ENOSYS)]
code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in program))
libc = ctypes.CDLL(None, use_errno=True)
filters = struct.pack('HL', len(program), ctypes.addressof(code))
no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_seccomp, filter_mode, ctypes.c_char_p(filters), 0, 0):
    sys.exit(f'no filter: {os.strerror(ctypes.get_errno())}')
os.execvp(command[0], command)
