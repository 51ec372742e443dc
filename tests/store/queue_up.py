"""Be one process that wants the file: `python queue_up.py HOME NAME WAIT` takes it and holds it until told to let go.

Prints `waiting` when it has asked, `holding` when it has the file, then reads a line, notes its name in HOME/order and
lets go. A wait that was too long prints the error instead.
"""

import sys
from pathlib import Path

from substrate.errors import AiMemoryError
from substrate.store.baton import Baton

home, name, wait = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
baton = Baton(home, opened=lambda: None, closing=lambda: None, wait_s=wait)
print("waiting", flush=True)
try:
    with baton.held():
        print("holding", flush=True)
        sys.stdin.readline()
        with (home / "order").open("a") as file:
            file.write(f"{name}\n")
except AiMemoryError as error:
    print(f"{error.code}: {error.message}", flush=True)
baton.close()
