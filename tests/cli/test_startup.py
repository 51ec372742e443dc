"""Reading a persona loads what reading needs and nothing else."""

import subprocess
import sys

import duckdb

from tests.cli.conftest import Cast
from tests.cli.terminal import ROOT, Terminal

HEAVY = {"torch", "networkx", "numpy", "pydantic", "sentence_transformers", "ollama", "snowballstemmer", "yaml", "rich"}
SAYS = "import sys; from cli.app import run; code = run({line!r}); print(*sys.modules, file=sys.stderr); sys.exit(code)"


def loaded(shell: Terminal, *line: str) -> set[str]:
    """Name the modules that a process holds after it ran a command."""
    env = {"PYTHONPATH": str(ROOT), "AI_MEMORY_HOME": str(shell.home), "AI_MEMORY_STATE": str(shell.state)}
    code = SAYS.format(line=list(line))
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_reading_a_persona_loads_no_heavy_library(shell: Terminal):
    modules = loaded(shell, "persona", "mara")
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert {"cli.memory_commands", "cli.demo", "substrate.memory.writing", "substrate.secrets.rules"} & modules == set()
    assert {"cli.persona_commands", "curator.persona.reading"} <= modules


def test_a_heavy_library_would_be_noticed(shell: Terminal, cast: Cast):
    assert "numpy" in loaded(shell, "recall", "Lisbon")
    assert "networkx" in loaded(shell, "paths", cast.persona, cast.choir)


def test_a_persona_is_read_without_holding_the_whole_store_against_the_log(shell: Terminal, cast: Cast):
    connection = duckdb.connect(str(shell.home / "memory.duckdb"))
    connection.execute("UPDATE memories SET content = 'I moved to Rome.' WHERE id = ?", [cast.moved])
    connection.close()
    for who in ("ann", cast.ben):
        assert shell("persona", "mara", "--as", who).code == 0
    assert shell("list").code == 7


def test_a_credential_that_an_edit_hides_denies_and_lets_nobody_in(shell: Terminal, cast: Cast):
    connection = duckdb.connect(str(shell.home / "memory.duckdb"))
    connection.execute("UPDATE credentials SET public_key = ? WHERE principal_id = ?", ["ab" * 32, cast.scout])
    connection.close()
    error = shell.fails("persona", "mara", "--as", "scout", code=7)
    assert error["code"] == "integrity"
    assert shell("persona", "mara").code == 0
