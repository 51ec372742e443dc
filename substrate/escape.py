"""Render stored text harmless, one function a sink.

Stored text is data. It is kept as given and escaped here, at the edge, so that no text can move a cursor, hide a
footnote, open a tag or become a formula. Every function is pure and total: any `str` goes in, lone surrogates and
control characters included, and encodable text comes out.

Source: DESIGN.md §8; docs/concepts/quoting.md shows each sink with an example.
"""

import hashlib
import html as _html
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from urllib.parse import quote_from_bytes

from substrate.limits import COMBINING_MARKS, FILE_NAME_BYTES, QUOTE_CHARS

# What a reader cannot see: format characters (zero-width, bidi, tags), variation selectors, fillers that draw
# nothing, and the two Unicode line separators, which break a line in some viewers and not in others.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
_SURROGATE = "\ud800-\udfff"

# Joiners that spell: inside an emoji sequence, and between letters of Arabic and Indic scripts. They stay.
_PICTURE = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_EMOJI = f"(?:{_PICTURE}[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?)"
_JOINED = "[\u0620-\u06dc\u06de-\u06ff\u0750-\u077f\u0900-\u0dff]"
_SPELLED = f"{_EMOJI}(?:\u200d{_EMOJI}){{0,8}}|[0-9]\ufe0f?\u20e3|(?<={_JOINED})[\u200c\u200d](?={_JOINED})"

_HIDDEN = re.compile(f"({_SPELLED})|([{_CONTROL}{_SURROGATE}{INVISIBLE}])")


def terminal(text: str) -> str:
    r"""Show text on a terminal: newline and tab stay, every other control and invisible character is spelled out.

    ESC becomes the six characters `\u{1b}`, so no escape sequence, cursor move, clipboard write or bidi override
    reaches the terminal. A base character keeps `limits.COMBINING_MARKS` marks; what exceeds them is counted.
    """
    return _HIDDEN.sub(lambda found: found[1] or _spelled_out(found[2]), _bounded(text.replace("\r\n", "\n")))


def line(text: str) -> str:
    """Show text on one terminal line: every run of white space is one space."""
    return terminal(one_line(text))


def one_line(text: str) -> str:
    """Return text with every run of white space, line breaks included, as one space, and none at the ends."""
    return " ".join(text.split())


def log_line(text: str) -> str:
    r"""Write text into one record of a log: as `terminal`, with backslash, newline and tab spelled `\\`, `\n`, `\t`."""
    spelled = text.replace("\\", "\\\\").replace("\r\n", "\\n").replace("\n", "\\n").replace("\t", "\\t")
    return terminal(spelled)


def quote(value: object, most: int = QUOTE_CHARS) -> str:
    """Show an offending value in a message: quoted, on one line, cut to `most` characters, without a credential."""
    from substrate.secrets import redact  # only a refusal needs it

    text = redact((value if isinstance(value, str) else repr(value))[: 4 * most])
    shown = line(text[: most + 1])
    if len(shown) <= most and len(text) <= most:
        return f"'{shown}'"
    return f"'{line(shown[:most])[:most]}…'"  # a cut may leave a joiner with nothing to join


def html(text: str) -> str:
    """Write text as HTML character data or as a quoted attribute value."""
    return _html.escape(terminal(text), quote=True)


# A character of these opens something in CommonMark, with footnotes, tables and bare addresses as links.
# Compiled when a text is first written, not at every start.
_MARKDOWN = (
    f"({_SPELLED})|([{_CONTROL}{_SURROGATE}{INVISIBLE}])"
    r"|([\\`*_\[\]<~^|]|&(?=[#A-Za-z])|(?:^|(?<= ))#|!$|:(?=//)|(?<=[Ww]{3})\.|^[-+=:>%!;])"
)
_NUMBERED = re.compile(r"^([0-9]+)([.)])")
_MARKDOWN_BACK = re.compile(r"\\([!-/:-@\[-`{-~])|&#92;u\{((?:10|[0-9a-f])?[0-9a-f]{1,4})\}")


def markdown(text: str) -> str:
    r"""Write text into a Markdown line, so that a reader sees the characters of `one_line(text)` and nothing else.

    It opens no footnote, definition, link, image, tag, comment, heading, list, quote, fence, table, rule or entity,
    wherever in the line it stands. Invisible characters are shown as `\u{202e}`. `unescape_markdown` undoes it.
    """
    return _NUMBERED.sub(r"\1\\\2", re.sub(_MARKDOWN, _escape_markdown, one_line(text)))


def unescape_markdown(text: str) -> str:
    """Return what `markdown` was given, white space normalised: the inverse of `markdown`."""
    return _MARKDOWN_BACK.sub(lambda found: found[1] or chr(int(found[2], 16)), text)


def _escape_markdown(found: re.Match[str]) -> str:
    if found[2]:  # an entity for the backslash tells this from a text that spells `\u{…}` itself
        return _spelled_out(found[2]).replace("\\", "&#92;")
    return found[1] or f"\\{found[3]}"


def yaml_front_matter(fields: Mapping[str, object]) -> str:
    """Write plain values (str, int, float, bool, None, lists, mappings) as YAML front matter, fences included.

    A text with a line break is one quoted line, so no value holds a line `---`. Written by PyYAML's safe dumper.
    """
    import yaml  # only the file export needs it

    class OneLine(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

        def represent_text(self, data: str) -> yaml.ScalarNode:
            breaks = "\n" in data or _HIDDEN.sub(r"\1", data) != data
            return self.represent_scalar("tag:yaml.org,2002:str", data, style='"' if breaks else None)

    OneLine.add_representer(str, OneLine.represent_text)
    written = []
    for key, value in fields.items():
        plain = {key: list(value) if isinstance(value, tuple) else value}
        text = yaml.dump(plain, Dumper=OneLine, allow_unicode=True, sort_keys=False, width=2**31)
        if _HIDDEN.sub(r"\1", text) != text:
            text = yaml.dump(plain, Dumper=OneLine, allow_unicode=False, sort_keys=False, width=2**31)
        written.append(text)
    return "".join(["---\n", *written, "---\n"])


def csv_cell(text: str) -> str:
    """Return the value of a cell for `csv.writer`: a text a spreadsheet would take for a formula gets a leading `'`."""
    shown = terminal(text)
    return (
        f"'{shown}" if shown.lstrip()[:1] in ("=", "+", "-", "@", "＝", "＋", "－", "＠") or text[:1] == "\t" else shown
    )


_DEVICE = r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|conin\$|conout\$|clock\$)(?=\.|$)"
_HASH_CHARS = 16


def filename(text: str) -> str:
    """Return a file name for an id: different ids get different names, on case-insensitive file systems too.

    ASCII letters, digits, `.`, `_` and `-` stay, other bytes are percent-encoded, and so is a first `.` or `-`, a last
    `.` and the first letter of a Windows device name. Where letters of both cases could meet, where the name would
    exceed `limits.FILE_NAME_BYTES` and for the empty text, `~` and 64 bits of the text's SHA-256 follow. Callers may
    append an extension.
    """
    raw = text.encode("utf-8", "surrogatepass")
    name = quote_from_bytes(raw, safe="").replace("~", "%7E")
    if name[:1] in (".", "-") or re.match(_DEVICE, name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name.endswith("."):
        name = f"{name[:-1]}%2E"
    if name and name == _encoded_lower(name) and len(name) <= FILE_NAME_BYTES:
        return name
    kept = re.sub("%[0-9A-F]?$", "", name[: FILE_NAME_BYTES - _HASH_CHARS - 1])
    return f"{kept}~{hashlib.sha256(raw).hexdigest()[:_HASH_CHARS]}"


def mermaid_label(text: str) -> str:
    """Write text inside the double quotes of a Mermaid label: all ASCII punctuation but `.`, `,`, `-` as `#code;`."""
    return re.sub(r"[!-+/:-@\[-`{-~]", lambda found: f"#{ord(found[0])};", line(text))


def json_data(items: Iterable[Mapping[str, object]]) -> tuple[str, tuple[int, ...]]:
    """Write items for a prompt as a JSON array, and name the positions of those that hid something.

    Invisible characters (tags, variation selectors, zero-width, bidi) are taken out of every string, keys included.
    `<`, `>` and a bracketed control word such as `[INST]` are written as JSON escapes, so that no text closes the
    envelope or spells a token of a chat template.
    """
    written, flagged = [], []
    for position, item in enumerate(items):
        clean = _without_hidden(item)
        if clean != item:
            flagged.append(position)
        written.append(json.dumps(clean, ensure_ascii=False, allow_nan=False))
    text = re.sub(r"[<>]|\[(?=/?[A-Z_]{2,40}\])", lambda found: f"\\u{ord(found[0]):04x}", ",\n".join(written))
    return f"[{text}]", tuple(flagged)


def _without_hidden(value: object) -> object:
    if isinstance(value, str):
        return _HIDDEN.sub(lambda found: found[1] or "", value)
    if isinstance(value, Mapping):
        return {_without_hidden(str(key)): _without_hidden(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_without_hidden(inner) for inner in value)
    return value


def _encoded_lower(name: str) -> str:
    """Return an encoded name with its letters lower-cased, those of percent escapes excepted."""
    return re.sub("%[0-9A-F]{2}|[A-Z]", lambda found: found[0] if len(found[0]) == 3 else found[0].lower(), name)


def _spelled_out(char: str) -> str:
    return f"\\u{{{ord(char):x}}}"


def _bounded(text: str) -> str:
    """Cut each run of combining marks to `limits.COMBINING_MARKS` and say how many were left out."""
    if text.isascii():
        return text
    kept: list[str] = []
    run = 0
    for char in [*text, ""]:
        if char and unicodedata.category(char) in ("Mn", "Me"):
            run += 1
            if run <= COMBINING_MARKS:
                kept.append(char)
            continue
        if run > COMBINING_MARKS:
            kept.append(f"[+{run - COMBINING_MARKS} marks]")
        run = 0
        kept.append(char)
    return "".join(kept)
