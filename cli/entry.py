"""The program ``ai-memory`` as a shell starts it; an interrupt while it is still being loaded ends it in words, too."""

import os
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process."""
    try:
        from cli.app import main as run

        run()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        os._exit(130)
