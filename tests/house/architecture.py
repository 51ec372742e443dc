"""State the rules of the house as functions from a source tree to the list of what breaks them."""

import ast
import re
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGES = ("audit", "substrate", "curator", "cli")
"""Each imports only itself and those before it."""

FLOORS = dict.fromkeys(("errors", "limits", "config", "secrets", "escape", "identifiers"), 0) | {
    "store": 1,
    "scopes": 2,
    "memory": 3,
    "recall": 4,
    "texts": 4,
    "home": 5,
    "actions": 6,
    "__init__": 7,
}
"""The rooms of substrate: each imports only itself and floors under its own; those on floor 0 know one another."""

HOMES = {
    "duckdb": {"substrate/store/db.py"},
    "sentence_transformers": {"substrate/recall/embedding.py", "substrate/recall/rerank.py"},
    "torch": {"substrate/recall/embedding.py"},
    "ollama": {"curator/llm/ollama.py"},
    "httpx": {"curator/llm/ollama.py"},
    "jsonschema": {"curator/llm/answers.py"},
    "mcp": {"cli/mcp_server.py"},
    "mcp_types": {"cli/mcp_server.py"},
    "anyio": {"cli/mcp_server.py"},
    "networkx": {"substrate/memory/graph.py", "curator/persona/cluster.py"},
}
WAITING = {"cli/mcp_server.py"}
"""Where functions may be `async`: the library that serves MCP calls no others."""

BOUNDARIES = {"curator/worker.py", "curator/persona/cadence.py", "cli/app.py"}
"""Where everything that goes wrong may be caught once."""

LASTING = {"tests/fuzz/__main__.py"}
"""What goes on for as long as it is told to, and may look at a clock."""

AUDIT_IMPORTS = {"audit", "nacl"}
CLASS_NAMES = re.compile(r"(Manager|Service|Engine|Handler|Helper)$")
# Each pattern has a bracket in it, so that this line does not find itself.
WORDS = re.compile(
    r"/wor[k]/|\.librar[y]\b|/tmp/(en[v]|brie[f])|/opt/pyp[i]|befor[e]-stop|far[m]-[sb]|steerin[g] repo"
    r"|developers.? sessio[n]|\bissues? #?[0-9]+\b|as an A[I] language",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Source:
    """Hold one Python file: its path from the root, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def room(self) -> tuple[str, ...]:
        """Answer the module's name in parts, a package's own file as `__init__`."""
        return tuple(self.path.removesuffix(".py").split("/"))

    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

    def calls(self) -> list[str]:
        return [ast.unparse(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)]


def sources(root: Path, *folders: str) -> list[Source]:
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return [Source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def product(root: Path) -> list[Source]:
    return sources(root, *PACKAGES)


def tests(root: Path) -> list[tuple[Source, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """List each test function with its file."""
    return [
        (source, function)
        for source in sources(root, "tests")
        if source.room[-1].startswith("test_")
        for function in source.functions()
        if function.name.startswith("test")
    ]


def imports(source: Source) -> Iterator[tuple[str, ...]]:
    """Yield each imported name in parts, `from a import b` as `a.b`, relative ones resolved."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = source.room[: -node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            yield from ((*base, alias.name) for alias in node.names)


def packages_import_downwards(root: Path) -> list[str]:
    rank = {name: number for number, name in enumerate(PACKAGES)}
    outside = len(PACKAGES)
    return [
        f"{source.path} imports {'.'.join(name)}"
        for source in product(root)
        for name in imports(source)
        if name[0] in (*PACKAGES, "tests", "benchmarks") and rank.get(name[0], outside) > rank[source.room[0]]
    ]


def substrate_imports_lower_floors(root: Path) -> list[str]:
    found = []
    for source in sources(root, "substrate"):
        room = source.room[1]
        if room not in FLOORS:
            found.append(f"{source.path} stands on no floor")
            continue
        for name in imports(source):
            if name[0] != "substrate":
                continue
            other = name[1] if len(name) > 1 and name[1] in FLOORS else "__init__"
            if other != room and FLOORS[other] >= max(FLOORS[room], 1):
                found.append(f"{source.path} imports {'.'.join(name)}")
    return found


def audit_needs_no_other_package(root: Path) -> list[str]:
    return [
        f"{source.path} imports {name[0]}"
        for source in sources(root, "audit")
        for name in imports(source)
        if name[0] not in AUDIT_IMPORTS | sys.stdlib_module_names
    ]


def libraries_have_one_home(root: Path) -> list[str]:
    return [
        f"{source.path} imports {name[0]}, whose home is {' and '.join(sorted(HOMES[name[0]]))}"
        for source in product(root)
        for name in imports(source)
        if name[0] in HOMES and source.path not in HOMES[name[0]]
    ]


def only_cli_reads_the_environment(root: Path) -> list[str]:
    names = re.compile(r"\bos\.(environb?|getenvb?|putenv)\b|^os\.path\.expandvars$")
    found = []
    for source in sources(root, *PACKAGES[:-1]):
        used = {ast.unparse(node) for node in ast.walk(source.tree) if isinstance(node, ast.Attribute)}
        used |= {".".join(name) for name in imports(source)}
        found += [f"{source.path} reads {name}" for name in sorted(used) if names.search(name)]
    return found


def files_are_short(root: Path) -> list[str]:
    long = [
        f"{source.path} has {lines} lines"
        for source in sources(root, *PACKAGES, "tests", "benchmarks", "docs")
        if (lines := len(source.text.splitlines())) > 400
    ]
    lengths = [len(source.text.splitlines()) for source in product(root)]
    median = statistics.median(lengths or [0])
    return long + ([f"the median file has {median} lines"] if median > 150 else [])


def functions_are_short(root: Path) -> list[str]:
    lengths = {
        f"{source.path}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for source in sources(root, *PACKAGES, "benchmarks")
        for node in source.functions()
    }
    found = [f"{name} has {length} lines" for name, length in lengths.items() if length > 80]
    ordered = sorted(lengths.values()) or [0]
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    return found + ([f"the 95th percentile of function lengths is {p95}"] if p95 > 50 else [])


def only_boundaries_catch_everything(root: Path) -> list[str]:
    """Allow a broad handler elsewhere only where it tidies up and raises the same exception again."""
    found = []
    for source in product(root):
        broad = [
            node.lineno
            for node in ast.walk(source.tree)
            if isinstance(node, ast.ExceptHandler)
            and (node.type is None or re.search(r"\b(Base)?Exception\b", ast.unparse(node.type)))
            and ast.unparse(node.body[-1]) != "raise"
        ]
        allowed = 1 if source.path in BOUNDARIES else 0
        found += [f"{source.path}:{line} catches everything" for line in broad[allowed:]]
    return found


def classes_are_nouns_of_the_domain(root: Path) -> list[str]:
    return [
        f"{source.path}:{node.lineno} class {node.name}"
        for source in product(root)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and CLASS_NAMES.search(node.name)
    ]


def nothing_is_async(root: Path) -> list[str]:
    return [
        f"{source.path}:{node.lineno} async {node.name}"
        for source in product(root)
        for node in source.functions()
        if isinstance(node, ast.AsyncFunctionDef) and source.path not in WAITING
    ]


def tests_use_the_real_thing(root: Path) -> list[str]:
    """Count stand-ins: at most one in twenty tests."""
    mock = re.compile(r"(^|\.)(Mock|MagicMock|AsyncMock|create_autospec)$|(^|\.)patch(\.\w+)?$|\bmonkeypatch\.setattr$")
    mocks = [f"{s.path}: {call}" for s in sources(root, "tests") for call in s.calls() if mock.search(call)]
    return mocks if len(mocks) > 0.05 * len(tests(root)) else []


def tests_assert_something(root: Path) -> list[str]:
    """Accept an assertion in the test itself, or a call of something that asserts: pytest's own, or a named check."""
    checks = {"pytest.raises", "pytest.warns", "pytest.fail"}
    for source in sources(root, "tests"):
        checks |= {function.name for function in source.functions() if _asserts(function, set())}
    return [
        f"{source.path}:{test.lineno} {test.name} asserts nothing"
        for source, test in tests(root)
        if not _asserts(test, checks)
    ]


def _asserts(function: ast.AST, checks: set[str]) -> bool:
    nodes = list(ast.walk(function))
    calls = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
    return bool(calls & checks) or any(isinstance(node, ast.Assert) for node in nodes)


def tests_do_not_sleep(root: Path) -> list[str]:
    return [
        f"{source.path}: {call}"
        for source in sources(root, "tests")
        for call in source.calls()
        if re.search(r"(^|\.)sleep$", call)
    ]


def tests_read_no_clock(root: Path) -> list[str]:
    """Leave time to benchmarks, which compare: how long a test takes says more of the machine than of what it tests."""
    clock = re.compile(r"(^|\.)(perf_counter|process_time|thread_time|monotonic|getrusage|timeit|time\.time)(_ns)?$")
    return [
        f"{source.path}: {call}"
        for source in sources(root, "tests")
        for call in source.calls()
        if clock.search(call) and source.path not in LASTING
    ]


def texts_speak_of_the_product(root: Path) -> list[str]:
    """Look for paths of one machine, and for words about how the work is organised, in every text file."""
    made = {"__pycache__", "build", "dist"}
    found = []
    for top in sorted(root.iterdir()):
        if top.name in made or (top.name.startswith(".") and top.name != ".ci"):
            continue
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and not made & set(path.parts):
                text = path.read_text(encoding="utf-8", errors="replace")
                found += [f"{path.relative_to(root)}: {match.group()}" for match in WORDS.finditer(text)]
    return found


RULES: tuple[Callable[[Path], list[str]], ...] = (
    packages_import_downwards,
    substrate_imports_lower_floors,
    audit_needs_no_other_package,
    libraries_have_one_home,
    only_cli_reads_the_environment,
    files_are_short,
    functions_are_short,
    only_boundaries_catch_everything,
    classes_are_nouns_of_the_domain,
    nothing_is_async,
    tests_use_the_real_thing,
    tests_assert_something,
    tests_do_not_sleep,
    tests_read_no_clock,
    texts_speak_of_the_product,
)
