"""Run the command line as a user does and keep what came out; in this process, or as one of its own."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.app import run

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "import sys; sys.argv[0] = 'ai-memory'; from cli.app import main; main()"


@dataclass(frozen=True)
class Done:
    """What a command left behind: its exit code and the bytes on both streams."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def err(self) -> str:
        return self.stderr.decode()

    @property
    def json(self) -> Any:
        """The answer of a command that succeeded with --json."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error of a command that failed with --json: one line on standard error, nothing else."""
        found: dict[str, Any] = json.loads(self.err)["error"]
        assert found.keys() == {"code", "message", "details"}
        return found


class Terminal:
    """A shell with one store behind it."""

    def __init__(self, home: Path, state: Path) -> None:
        self.home, self.state = home, state

    def __call__(self, *arguments: str, stdin: bytes = b"", encoding: str = "utf-8") -> Done:
        """Run a command in this process."""
        streams = sys.stdin, sys.stdout, sys.stderr
        out, err = io.BytesIO(), io.BytesIO()
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
        sys.stdout, sys.stderr = (io.TextIOWrapper(buffer, encoding, newline="\n") for buffer in (out, err))
        try:
            code = run(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            return Done(code, out.getvalue(), err.getvalue())
        finally:
            sys.stdin, sys.stdout, sys.stderr = streams

    def ok(self, *arguments: str) -> Any:
        """Run a command with --json that must succeed; give its answer."""
        return self("--json", *arguments).json

    def fails(self, *arguments: str, code: int) -> dict[str, Any]:
        """Run a command with --json that must fail with this exit code and leave standard output empty."""
        done = self("--json", *arguments)
        assert (done.code, done.out) == (code, ""), done
        return done.error

    def start(self, *arguments: str | bytes, env: Mapping[str, str] = {}, **options: Any) -> subprocess.Popen[bytes]:
        """Start a command as a process of its own."""
        shared = {"PYTHONPATH": str(ROOT), "AI_MEMORY_HOME": str(self.home), "AI_MEMORY_STATE": str(self.state)}
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        line = [sys.executable, "-c", SCRIPT, *arguments]
        return subprocess.Popen(line, env={**os.environ, **shared, **env}, **options)

    def process(self, *arguments: str | bytes, env: Mapping[str, str] = {}, stdin: bytes = b"") -> Done:
        """Run a command as a process of its own."""
        started = self.start(*arguments, env=env, stdin=subprocess.PIPE)
        out, err = started.communicate(stdin, timeout=60)
        return Done(started.returncode, out, err)
