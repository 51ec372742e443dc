"""Render Markdown with three parsers, and see of the result only its tags and its visible text."""

from collections.abc import Callable, Iterator
from html.parser import HTMLParser

import cmarkgfm
import mistune
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

_MDIT = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).use(footnote_plugin)
_MISTUNE = mistune.create_markdown(
    escape=False,
    plugins=["footnotes", "table", "strikethrough", "url", "task_lists", "def_list", "superscript", "subscript"],
)


def _gfm(text: str) -> str:
    options = Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_UNSAFE
    return str(
        cmarkgfm.markdown_to_html_with_extensions(text, options, ["table", "autolink", "strikethrough", "tasklist"])
    )


RENDERERS: dict[str, Callable[[str], str]] = {
    "markdown-it": lambda text: str(_MDIT.render(text)),
    "cmark-gfm": _gfm,
    "mistune": lambda text: str(_MISTUNE(text)),
}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.mail = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # GitHub's parser makes a mail address a link after every escape is resolved: the one link text can still make,
        # and it shows where it leads.
        self.mail = tag == "a" and "@" in (dict(attrs).get("href") or "")
        if not self.mail:
            self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not (tag == "a" and self.mail):
            self.tags.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.tags.append("!--")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def seen(rendered: str) -> tuple[list[str], str]:
    """Return the tags in order, and the text with white space normalised."""
    page = _Page()
    page.feed(rendered)
    page.close()
    return page.tags, " ".join("".join(page.texts).split())


def places() -> Iterator[tuple[str, str]]:
    """Yield the places a persona puts text at, by name, as templates."""
    yield "alone", "{}"
    yield "heading", "# {}\n\nafter"
    yield "summary", "before\n{}[^1][^2]\n\n[^1]: mem-1 — a\n[^2]: mem-2 — b"
    yield "list item", "## h\n- {}[^1]\n- other\n\n[^1]: mem-1 — a"
    yield "footnote", "- claim.[^1]\n\n[^1]: mem-1 — {} (2026-05-14)"
    yield "last footnote", "- claim.[^1]\n\n[^1]: mem-1 — {}"
    yield "sentence", "he said: {} and left.[^1]\n\n[^1]: mem-1 — a"
    yield "table cell", "| a | b |\n|---|---|\n| {} | c |"
