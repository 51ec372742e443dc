"""Write the reference pages from the code: `python docs/reference/generate.py`.

A test compares what stands in the folder with what this would write, so a page cannot fall behind its source.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT))

import audit.errors  # noqa: E402
import audit.event  # noqa: E402
import substrate.limits  # noqa: E402
import substrate.secrets.rules  # noqa: E402
from tests.requirements import load  # noqa: E402

NOTE = "<!-- Written by docs/reference/generate.py: change the code, then run it. -->\n"

EVENTS = {
    "store_created": "a store begins: its id and its first key",
    "store_rewritten": "the file was written anew, so that forgotten bytes are gone from it",
    "store_forked": "a copy went on by itself under a store id of its own",
    "restored": "a backup took the place of the store",
    "rollback_accepted": "somebody accepted that the log had lost its end",
    "checkpoint_adopted": "a checkpoint from elsewhere became this machine's anchor",
    "key_added": "a principal's key was registered",
    "key_revoked": "a key no longer counts",
    "key_rotated": "the store's key was replaced, signed by the old one and by the new",
    "memory_added": "a memory was written",
    "memory_superseded": "a newer wording took a memory's place",
    "memory_retired": "a memory was closed with a reason; its text is kept",
    "memory_linked": "a link between two memories was recorded or its times changed",
    "claim_pinned": "a claim of a persona was pinned, or let go",
    "memory_deleted": "a memory was forgotten; a tombstone is left",
    "erased": "texts and their salts were erased; the named rows may be empty",
    "entity_changed": "an entity, an alias or a merge was recorded",
    "policy_changed": "a namespace, its access or its policy changed",
    "membership_changed": "a principal joined, left or changed in a project",
    "persona_generated": "a persona version was written",
    "persona_refused": "there was nothing to write a persona from",
    "persona_failed": "a draft did not pass its checks; the persona before it is still served",
    "soul_changed": "an agent's soul has a new version",
    "preferences_changed": "a human's preferences or their reach changed",
    "profile_changed": "an agent's standing agreements changed",
    "rules_changed": "a project's rules changed",
    "request_filed": "somebody was asked or told something",
    "request_answered": "a request was answered",
    "request_withdrawn": "a request was taken back",
    "session_opened": "an agent began a unit of work",
    "session_closed": "it ended, with an outcome",
    "session_redone": "its work was sent back",
    "index_shown": "a memory index was shown, by hash",
    "plan_applied": "the curator's planned operations were applied",
    "pass_ended": "a memory pass at the end of a session ended",
    "decision_recorded": "a decision and what it rests on were recorded",
}


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]] | list[tuple[str, ...]]) -> str:
    """Lay out a Markdown table; a bar or a line break inside a cell cannot end it."""
    cells = [head, tuple("---" for _ in head), *rows]
    clean = [[re.sub(r"\s*\n\s*", " ", cell).replace("|", "\\|") for cell in row] for row in cells]
    return "".join(f"| {' | '.join(row)} |\n" for row in clean)


def first_line(documented: object) -> str:
    return (inspect.getdoc(documented) or "").split("\n")[0]


def errors() -> str:
    rows = [
        (f"`{error.code}`", str(error.http_status), str(error.exit_code), first_line(error))
        for error in audit.errors.ERRORS
    ]
    return f"""# Errors
{NOTE}
Every door answers with the same shape, on stderr at the command line:

```json
{{"error": {{"code": "not_found", "message": "…", "details": {{"hint": "…"}}}}}}
```

The message says what happened, `details.hint` what to do about it. What a caller may not read does not exist for it:
code, text and fields are those of something that was never there.

{table(("code", "HTTP", "exit", "when"), rows)}"""


def events() -> str:
    undescribed = audit.event.TYPES ^ EVENTS.keys()
    if undescribed:
        raise SystemExit(f"describe these event types, or drop them: {sorted(undescribed)}")
    return f"""# Events
{NOTE}
Every change is one signed event in the same transaction. An event carries ids and commitments, never text; the form
of its bytes is described in [the specification of the log](../spec/audit.md).

{table(("type", "what happened"), [(f"`{type}`", text) for type, text in EVENTS.items()])}"""


def limits() -> str:
    parts = []
    rows: list[tuple[str, ...]] = []
    for line in Path(substrate.limits.__file__).read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"# --- (.+?) -*$", line):
            rows = []
            parts.append((heading[1], rows))
        elif constant := re.match(r"([A-Z_]+): Final = .*?  # (.+)$", line):
            rows.append((f"`{constant[1]}`", shown(getattr(substrate.limits, constant[1])), constant[2]))
    body = "\n".join(
        f"## {heading[0].upper()}{heading[1:]}\n\n{table(('name', 'value', 'of what'), rows)}"
        for heading, rows in parts
        if rows
    )
    return f"""# Limits
{NOTE}
Bytes are bytes of UTF-8 and characters are Unicode code points. Each number stands once, in `substrate/limits.py`.

{body}"""


def shown(value: object) -> str:
    if isinstance(value, frozenset | set | tuple):
        return ", ".join(f"`{item}`" for item in sorted(value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def credentials() -> str:
    rules = substrate.secrets.rules
    parts = (
        ("Tokens known by their shape", rules.ISSUED),
        ("Keys", rules.KEYS),
        ("Logins", rules.LOGINS),
        ("Passwords and secrets known by the words around them", rules.WORDED),
        ("Personal numbers", rules.PERSONAL),
    )
    body = "\n".join(
        f"## {heading}\n\n{table(('rule', 'what it finds'), [(f'`{r.name}`', r.description) for r in part])}"
        for heading, part in parts
    )
    return f"""# Credentials
{NOTE}
Every write is searched for these before anything is stored: contents, titles, ids, tags, metadata with its keys, and
proposals. A hit refuses the whole write with `invalid` and names the field and the rule, never the secret. Personal
numbers are found and not refused.

A password that is a plain word, a passphrase with spaces and a short numeric code are not told from prose. How well
the rules do is measured on a generated corpus: `python -m benchmarks.secrets`.

{body}"""


def requirements() -> str:
    lines = list(load().values())
    counts = {status: sum(line.status == status for line in lines) for status in ("proved", "partial", "deferred")}
    body = ""
    for section in dict.fromkeys(line.section for line in lines):
        rows = [
            (line.id, line.sentence, f"{line.status}: {line.reason}" if line.reason else line.status)
            for line in lines
            if line.section == section
        ]
        body += f"\n## {section}\n\n{table(('id', 'requirement', 'state'), rows)}"
    return f"""# Requirements
{NOTE}
What the product has to do, line by line. *Proved* means that tests in `tests/` carry the id
and assert what the line says; not every line was tried against a build that breaks it.
{counts["proved"]} proved, {counts["partial"]} in part, {counts["deferred"]} not built yet.
{body}"""


def commands(app: Any) -> str:
    import typer.main

    sections = "\n".join(
        command_section(name, command) for name, command in walk("ai-memory", typer.main.get_command(app))
    )
    return f"""# Command line
{NOTE}
Data goes to stdout and everything else to stderr. [Exit codes](errors.md) are the same for all commands; besides
them, 130 follows an interrupt and 141 a reader of the output that went away. `--as`, `--project` and `--json` may stand
before the command too. `-` as a text reads stdin, and `--` lets a text begin with a dash. `AI_MEMORY_HOME` chooses the
folder of the store, `AI_MEMORY_STATE` the one where this machine keeps anchors, `AI_MEMORY_AS` the principal.

{sections}"""


def actions() -> str:
    import curator.actions  # noqa: F401  (registers what the curator composes)
    from substrate.actions import registry

    registry.load()
    rows = [
        (
            f"`{name}`",
            ", ".join(map(parameter, action.parameters.values())),
            "yes" if action.writes else "",
            action.summary,
        )
        for name, action in sorted(registry.ACTIONS.items())
    ]
    return f"""# Actions
{NOTE}
What a principal can ask for, the same at every door; from Python: `registry.call(memory, name, arguments)`. An argument
in brackets may be left out. Answers are JSON, and an unknown, missing or wrong argument is the error `invalid`.

{table(("action", "arguments", "writes", "what it does"), rows)}"""


def parameter(found: inspect.Parameter) -> str:
    return f"`{found.name}`" if found.default is found.empty else f"[`{found.name}`]"


def tools() -> str:
    from cli.mcp_tools import DEFAULT, FULL

    sections = "\n".join(map(tool_section, (*DEFAULT, *FULL)))
    *others, last = (f"`{tool.name}`" for tool in FULL)
    extra = f"{', '.join(others)} and {last}"
    return f"""# MCP tools
{NOTE}
`ai-memory mcp` serves these to agents over standard input and output; `--profile full` adds
{extra}.
[Claude Code](../guides/claude-code.md) and [Cursor](../guides/cursor.md) have guides.

A tool answers with `structuredContent`, the JSON of the [action](actions.md) it calls and of the command line, and with
the same as text; for a persona the text is its Markdown. What goes wrong is a result with `isError` and an
[error](errors.md) of the same code and words as everywhere; an argument that a tool does not take is `invalid`. Who
calls is who the server was started as: nothing in a call changes that. A tool above the capability tier is `refused`.

What is no message is answered with the codes of JSON-RPC: -32700 for what is no JSON of UTF-8, -32600 for what is no
request (a batch, an id that is no text or whole number, a key that stands twice, more than
{substrate.limits.JSON_BYTES:,} bytes in a line), -32601 for an unknown method, -32602 for an unknown tool or page.

{sections}"""


def tool_section(tool: Any) -> str:
    schema = tool.schema
    rows = []
    for name, field in schema["properties"].items():
        type = f"list of {field['items']['type']}s" if field.get("type") == "array" else field.get("type", "anything")
        meaning = field["description"] + (f" One of: {', '.join(field['enum'])}." if "enum" in field else "")
        shown_name = f"`{name}`" if name in schema["required"] else f"[`{name}`]"
        rows.append((shown_name, type, meaning + (f" [default: {field['default']}]" if field.get("default") else "")))
    tier = "" if tool.action.tier == "keyword" else f", from the capability tier {tool.action.tier} on"
    does = "writes" if tool.action.writes else "reads"
    head = f"## `{tool.name}`\n\nThe action `{tool.action_name}`; {does}{tier}.\n\n"
    return head + f"{tool.description}\n\n{table(('argument', 'type', 'meaning'), rows)}"


def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for child in subcommands(command):
        if not child.hidden:
            yield from walk(f"{name} {child.name}", child)


def subcommands(command: Any) -> list[Any]:
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    return [command.get_command(None, name) for name in names]


def command_section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument" and not getattr(p, "hidden", False)]
    options = [p for p in command.params if p.param_type_name == "option" and not getattr(p, "hidden", False)]
    usage = [name, *(["[OPTIONS]"] if options else []), *map(argument_usage, arguments)]
    text = f"{'#' * min(2 + name.count(' '), 4)} `{name}`\n\n"
    text += f"```text\n{' '.join(usage + (['COMMAND …'] if subcommands(command) else []))}\n```\n\n"
    text += help_text(command.help or "")
    if example := re.fullmatch(r"Example: (.+)", command.epilog or "", re.DOTALL):
        text += f"```console\n$ {example[1]}\n```\n\n"
    if described := [(f"`{placeholder(p)}`", p.help) for p in arguments if p.help]:
        text += table(("argument", "meaning"), described) + "\n"
    if options:
        text += table(("option", "meaning"), [(option_usage(p), option_help(p)) for p in options]) + "\n"
    return text.rstrip("\n") + "\n"


def argument_usage(parameter: Any) -> str:
    name = placeholder(parameter) + ("…" if parameter.nargs == -1 else "")
    return name if parameter.required else f"[{name}]"


def option_usage(parameter: Any) -> str:
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return f"`{names}`" if parameter.is_flag or parameter.count else f"`{names} {placeholder(parameter)}`"


def placeholder(parameter: Any) -> str:
    """Name the value a parameter takes: as it was named in the code, else after the parameter."""
    return parameter.metavar or max(parameter.opts, key=len).lstrip("-").upper()


def option_help(parameter: Any) -> str:
    default = parameter.default
    plain = isinstance(default, str | int | float) and not isinstance(default, bool) and default != ""
    return (parameter.help or "") + (f" [default: {default}]" if plain else "")


def help_text(text: str) -> str:
    """Keep paragraphs; show what typer keeps verbatim, after a line with a backspace, as code."""
    parts = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            parts.append("```console\n" + paragraph.lstrip("\b\n") + "\n```")
        else:
            parts.append(paragraph)
    return "\n\n".join(parts) + "\n\n" if text else ""


def pages() -> dict[Path, str]:
    """Answer each generated page with what should stand in it; the command line only where it is there."""
    written = {
        DOCS / "reference" / "actions.md": actions(),
        DOCS / "reference" / "credentials.md": credentials(),
        DOCS / "reference" / "errors.md": errors(),
        DOCS / "reference" / "events.md": events(),
        DOCS / "reference" / "limits.md": limits(),
        DOCS / "reference" / "mcp.md": tools(),
        DOCS / "spec" / "requirements.md": requirements(),
    }
    if (app := find_app()) is not None:
        written[DOCS / "reference" / "cli.md"] = commands(app.app)
    return {path: text.rstrip("\n") + "\n" for path, text in written.items()}


def find_app() -> ModuleType | None:
    try:
        import cli.app
    except ModuleNotFoundError as error:
        if error.name != "cli.app":
            raise
        return None
    return cli.app


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
