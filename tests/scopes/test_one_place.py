"""Access is decided in `substrate/scopes` and nowhere else: a scan of the tree finds copies of its rules."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "applies_to|trust|isolated|proxy_for|preferences_included|owner_preferences|owner_id|lead_id|public_page"
    "|retired_at|revoked_at|left_at|token_sha256"
)
COLUMN = re.compile(rf"\b({NAMES})\b")
FIELD = re.compile("readers|agent_write")
SQL = re.compile(r"\b(SELECT|WHERE|AND|IS NULL|IS NOT NULL)\b|= \?")

# Who may look at an access column outside of scopes, at which, and why.
ALLOWED = {
    "substrate/memory/draft.py": ("applies_to", "checks that the agents of a restriction exist, and stores it"),
    "substrate/memory/references.py": ("applies_to", "narrows a query; every restricted row is left to access.visible"),
    "substrate/memory/entities.py": ("applies_to", "suggests only names from rows without a restriction"),
    "substrate/memory/feed.py": ("owner_id", "addresses an event; who reads it is decided by access"),
    "substrate/actions/scopes.py": (
        "owner_id|lead_id|retired_at|revoked_at",
        "shows principals and credentials as rows",
    ),
    "substrate/home.py": ("retired_at", "looks for the human a home belongs to; whether they may act access decides"),
    "substrate/recall/documents.py": ("applies_to", "groups rows; access.visible decides about each group"),
    "substrate/texts/projections.py": (
        "applies_to",
        "a file has every reader of its folder, so no restricted row has one",
    ),
    "curator/export.py": ("applies_to", "the same holds while files are written"),
    "curator/persona/gathering.py": ("applies_to", "a persona has every reader, so no restricted row is its source"),
    "curator/reflections/gathering.py": (
        "applies_to",
        "the same holds for the observations of a reflection",
    ),
}


def interpreted(source: str) -> set[tuple[int, str]]:
    """Find where code reads an access column: as an attribute, in SQL, or as the name of a policy field.

    Naming a column as a keyword to fill it, or as a field of a dataclass, is no reading.
    """
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and COLUMN.fullmatch(node.attr):
            found.add((node.lineno, node.attr))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            if FIELD.fullmatch(node.value):
                found.add((node.lineno, node.value))
            if SQL.search(node.value):
                found |= {(node.lineno, match[0]) for match in COLUMN.finditer(node.value)}
    return found


def copies(root: Path) -> list[str]:
    """List every reading of an access column outside of scopes that the list above does not allow."""
    files = [path for package in ("substrate", "curator", "cli") for path in (root / package).rglob("*.py")]
    return [
        f"{name}:{line} reads {column}: ask substrate.scopes.access, or allow it with a reason"
        for path in sorted(files)
        if not (name := path.relative_to(root).as_posix()).startswith("substrate/scopes/")
        for line, column in sorted(interpreted(path.read_text("utf-8")))
        if column not in ALLOWED.get(name, ("",))[0].split("|")
    ]


def test_nothing_outside_scopes_interprets_what_access_rests_on():
    assert copies(ROOT) == []


@pytest.mark.parametrize("name", ALLOWED)
def test_every_exception_is_still_needed_and_has_a_reason(name: str):
    columns, reason = ALLOWED[name]
    assert {column for _, column in interpreted((ROOT / name).read_text("utf-8"))} >= set(columns.split("|"))
    assert len(reason) > 10


@pytest.mark.parametrize(
    "line",
    [
        "if caller.id in row.applies_to: pass",
        "ok = member.trust == 'guest'",
        "db.query('SELECT id FROM memories WHERE applies_to IS NULL')",
        "namespaces.policy(r, path, 'agent_write')",
        "row.policy['readers']",
        "r.select(MembershipRow, 'left_at IS NULL')",
    ],
)
def test_a_copy_of_the_rules_is_found(line: str, tmp_path: Path):
    (tmp_path / "substrate" / "memory").mkdir(parents=True)
    (tmp_path / "substrate" / "memory" / "x.py").write_text(line + "\n")
    assert len(copies(tmp_path)) == 1


@pytest.mark.parametrize(
    "line",
    ["Row(applies_to=agents)", "'''The trust of members.'''", "class A:\n    trust: str", "entrusted = 'trustee'"],
)
def test_filling_a_column_or_speaking_of_it_is_no_copy(line: str, tmp_path: Path):
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "x.py").write_text(line + "\n")
    assert copies(tmp_path) == []


ROOMS = ("substrate/scopes", "substrate/memory", "substrate/actions", "curator/persona")
FILES = re.compile(
    r"\b(open|read_text|write_text|read_bytes|write_bytes|cwd|getcwd|glob|rglob|walk|scandir|listdir|iterdir)$"
    r"|^(subprocess|shutil)\b"
)


def file_calls(source: str) -> list[str]:
    """List the calls that reach files; a package may read what it carries itself."""
    names = (ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [name for name in names if FILES.search(name) and not name.startswith(("ast.walk", "files(__package__)."))]


@pytest.mark.requirement("S1-4")
def test_no_room_that_makes_memories_reads_or_writes_files():
    """So nothing there can carry a repository's records into memory, or memory into a repository."""
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    assert len(files) > 10
    assert [(path.name, name) for path in files for name in file_calls(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("line", ["Path('context/adr').read_text()", "open(x)", "subprocess.run(['git', 'log'])"])
def test_reading_a_repository_would_be_found(line: str):
    assert file_calls(line) != []
