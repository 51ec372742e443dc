"""Decide whether a value that stands where a secret would stand is one. Pure functions from a string to yes or no."""

import base64
import binascii
import re
from itertools import pairwise

# Words of which placeholders are made; what is left of `your_api_key_here` without them is nothing.
_STOPWORDS = re.compile(
    "access|admin|api|auth|bearer|change|client|confirmed|credential|database|db|default|dummy|empty|enter|env|example"
    "|expired|fake|false|foo|bar|here|hidden|inherit|insert|invalid|key|me|missing|my|none|null|optional|passphrase"
    "|password|passwd|passwort|pass|placeholder|private|pwd|redacted|replace|required|root|sample|secret|service|some"
    "|string|test|the|todo|token|true|undefined|unknown|unset|user|username|value|vault|with|wrong|xxx+|your"
)
_CODE = re.compile(
    r"""[$%]?\{|\$\(|\$[A-Za-z_]\w*$|%\(?\w+\)?s?$|<|\[|!\w+$|&\w+$|\w{2,}=   # a variable, a placeholder, a setting
    |[A-Za-z_$][\w$]{0,60}(?:\.[A-Za-z_$][\w$]{0,60}){1,6}$                  # settings.token, self.secret
    |[A-Za-z_][\w.]{0,60}[(\[]                                               # a call or an index
    |[/~.]|[a-z]{2,20}://|@[\w.-]+[:/]|[A-Z]:\\                             # a path or an address
    """,
    re.VERBOSE,
)
_ORDINARY = re.compile(
    r"v?\d+(?:[.,:/-]\d+){0,6}[a-z%]{0,2}$"  # a version, a date, a time, an amount
    r"|\d{4}-\d\d-\d\d|\d+-[a-z]+$"  # a timestamp, "12-character"
    r"|[^@\s]+@[^@\s]+\.[a-z]+$"  # a mail address
    r"|(?:argon|base|sha|md|oauth|bcrypt|pbkdf|totp|utf|http|ed|aes|rsa|x)-?\d+\w{0,3}$|1password|[a-z]+'s$",
    re.IGNORECASE,
)
_HEX = re.compile("[0-9a-f]{32,}|[0-9A-F]{32,}")
_ROW = re.compile(r"(.)\1{7}")
_SYMBOLS = frozenset("!@#$%^&*?+=~")


def varied(value: str) -> bool:
    """Tell a token from a row of crosses."""
    return len(set(value)) >= 6 and not _ROW.search(value)


def placeholder(value: str) -> bool:
    """Tell `your_api_key_here`, `********` and `null` from a value."""
    rest = _STOPWORDS.sub("", value.lower())
    return len(set(value)) < 3 or not any(char.isalnum() for char in rest)


def random(value: str) -> bool:
    """Tell a machine-made token: 16 characters or more that change between lower, upper and digit often enough."""
    body = _core(value).rstrip("=")
    if len(body) < 16 or len(set(body)) < 6 or placeholder(body) or _CODE.match(body):
        return False
    restless, digits = _restless(body), sum(char.isdigit() for char in body)
    long = len(body) >= 32 and restless >= 0.3 and digits >= 1
    return restless >= 0.4 or (restless >= 0.2 and digits >= 2) or long or bool(_HEX.fullmatch(body))


def password(value: str) -> bool:
    """Tell a password from a word: letters with digits, letters with symbols, or six digits and more."""
    core = _core(value)
    if len(core) < 6 or placeholder(core) or _CODE.match(core):
        return False
    if core.isdigit():
        return True
    if _ORDINARY.match(core):
        return False
    digits = any(char.isdigit() for char in core)
    letters = any(char.isalpha() for char in core)
    inner = any(char in _SYMBOLS for char in core[:-1])
    last = core[-1] in _SYMBOLS and core[1:] != core[1:].lower()  # "broken!" is a word, "AmberTiger!" is none
    mixed = len(core) >= 8 and _restless(core) >= 0.4
    return (letters and (digits or inner or last or mixed)) or (digits and inner)


def password_or_random(value: str) -> bool:
    """Tell either kind, for words such as "the api key is"."""
    return password(value) or random(value)


def quoted(value: str) -> bool:
    """Tell a word quoted as a password from a placeholder."""
    return not placeholder(value) and not _CODE.match(value)


def login(value: str) -> bool:
    """Tell a password inside an address from a port and from a placeholder."""
    return not (value.isdigit() and len(value) < 6) and not placeholder(value) and not _CODE.match(value)


def basic(value: str) -> bool:
    """Tell `user:password` in base64."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in decoded and decoded.isprintable()


def wrapped_key(value: str) -> bool:
    """Tell a private key block in base64 from a certificate in base64."""
    body = value.rstrip("=")
    return b"PRIVATE KEY" in base64.b64decode(body[: len(body) // 4 * 4])


def card(value: str) -> bool:
    """Tell a card number by its first digit and its check digit (Luhn)."""
    digits = [int(char) for char in value if char.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits[::-1])]
    return digits[0] in (3, 4, 5, 6) and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def iban(value: str) -> bool:
    """Tell a bank account number by its check digits (ISO 13616)."""
    compact = value.replace(" ", "")
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1


def social_security(value: str) -> bool:
    """Tell a US social security number from number ranges that are never issued."""
    area, group, serial = value.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _restless(value: str) -> float:
    """Return how often, of 1, the next character is of another class: lower case, upper case, digit."""
    classes = ["d" if char.isdigit() else "u" if char.isupper() else "l" for char in value if char.isalnum()]
    return sum(one != other for one, other in pairwise(classes)) / max(len(classes), 1)


def _core(value: str) -> str:
    """Return the value without what follows it in a query string, a list of settings or a sentence."""
    return re.split(r"&(?=\w+=)|;|\\[nrt]", value, maxsplit=1)[0].rstrip(".,:)]}")
