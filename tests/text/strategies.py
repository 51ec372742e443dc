"""Draw texts that try to be more than text: markup, controls, invisible characters, emoji, other scripts."""

from hypothesis import strategies as st

MARKUP = (
    "[^1]", "[^1]: refl-9999", "^[source: refl-9999]", "<!-- ", "-->", "---", "***", "___", "===", "# ", "#", "## x #",
    "> ", "- ", "+ ", "* ", "1. ", "12) ", "```", "~~~", "~", "~~", "`", "``", "[docs]: javascript:alert(1)", "[a](b)",
    "![x](https://evil.example/?q=1)", "[x][y]", "<script>", "</p>", "<a@b.c>", "<https://e.example>", "&amp;", "&#92;",
    "&copy;", "&", "a | b", "|---|", ":--", "| a |", "\\", "\\\\", "\\[", "&#92;u{41}", "\\u{41}", "https://e.example/a",
    "www.e.example", "a@e.example", "mailto:a@e.example", "http://", "*a*", "_a_", "__a__", "snake_case", "!", "!!!",
    "[ ]", "[x]", ": def", "%%", "$x$", "{#id}", "{{x}}", "(", ")", "\"", "'", "=HYPERLINK(1)", ";", "+1", "@SUM",
)  # fmt: skip
HIDDEN = (
    "\u202e", "\u2066", "\u2069", "\u200b", "\u200c", "\u200d", "\ufeff", "\u00ad", "\ufe00", "\ufe0f", "\U000e0041",
    "\U000e0100", "\u2028", "\u2029", "\u2800", "\u3164", "\x1b]52;c;aGk=\x07", "\x9b31m", "\x90", "\x00", "\r", "\r\n",
    "\x7f", "\ud800", "\udfff", "\u034f", "\u180e",
)  # fmt: skip
SPELLED = (
    "😀",
    "❤\ufe0f",
    "👨\u200d👩\u200d👧",
    "1\ufe0f\u20e3",
    "می\u200cخواهم",
    "क\u094d\u200dष",
    "é",
    "e\u0301",
    "中文",
    "ß",
    "İ",
)
PLAIN = ("a", "B", "word", " ", "  ", "\n", "\t", "\u00a0", ".", ",", "2026", "x" * 20)

nasty = st.lists(
    st.one_of(
        st.sampled_from(MARKUP),
        st.sampled_from(HIDDEN),
        st.sampled_from(SPELLED),
        st.sampled_from(PLAIN),
        st.text(max_size=4),
    ),
    max_size=12,
).map("".join)
"""Texts put together from markup, hidden characters, emoji, plain parts and whatever else Unicode holds."""
