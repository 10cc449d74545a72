"""Runs a program at a terminal of its own: answers each prompt in turn, prints all that was shown, ends as the program did.

Arguments: JSON list of [prompt, answer], program, its arguments. An answer of one control character is sent as it is.
"""

import json
import os
import pty
import sys

answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = ""
seen = 0
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    shown += piece.decode(errors="replace")
    while answers and answers[0][0] in shown[seen:]:
        prompt, answer = answers.pop(0)
        seen = shown.index(prompt, seen) + len(prompt)
        os.write(terminal, (answer if len(answer) == 1 and answer < " " else answer + "\r").encode())
sys.stdout.write(shown)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
