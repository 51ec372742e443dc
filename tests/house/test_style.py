"""Style and types are checked with the suite, so that a green suite means a clean tree."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str) -> str:
    """Run a tool of this environment in the project's root and answer what it complains about, or nothing."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_linter_has_nothing_to_say():
    assert run("ruff", "check", "--no-cache", ".") == ""


def test_the_formatter_has_nothing_to_change():
    assert run("ruff", "format", "--no-cache", "--check", ".") == ""


def test_the_types_hold_in_strict_mode():
    assert run("mypy") == ""
