"""Generate credentials of the right shape from a random source. None was ever issued by anybody."""

import base64
import json
import string
from collections.abc import Callable
from random import Random

Shape = Callable[[Random], str]

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = string.ascii_letters + DIGITS
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
_WORDS = (
    "amber anchor apple arrow autumn badger bamboo basil beacon birch bottle breeze bridge button cabin candle canyon "
    "carrot castle cedar cherry cliff clover comet copper coral cotton cricket crystal dahlia desert dolphin dragon "
    "eagle ember falcon feather fern forest fossil galaxy garden ginger glacier granite harbor hazel heron honey "
    "island ivory jasmine jungle juniper kettle lagoon lantern lemon lilac lizard lunar maple marble meadow melon "
    "meteor mirror monkey mosaic mustard nectar nickel nutmeg ocean olive orbit orchid otter owl paprika pebble "
    "pepper piano pigeon planet plum pocket poppy prairie pumpkin quartz rabbit raven ribbon river rocket saffron "
    "salmon sapphire shadow silver spider spruce squirrel summer sunset tiger timber tulip turtle umbrella valley "
    "velvet violet walnut whisper willow winter wizard zebra"
)
_NAMES = "Ava Noah Mia Liam Priya Chen Omar Ines Tomas Yuki Fatima Lars Nadia Pavel Rosa Kofi"
WORDS, NAMES = _WORDS.split(), _NAMES.split()


def chars(rng: Random, alphabet: str, count: int) -> str:
    """Return `count` random characters of `alphabet`."""
    return "".join(rng.choices(alphabet, k=count))


def of(*parts: str | tuple[str, int] | tuple[str, int, int]) -> Shape:
    """Return a shape that joins literals, (alphabet, length) and (alphabet, shortest, longest) parts."""

    def make(rng: Random) -> str:
        made = []
        for part in parts:
            if isinstance(part, str):
                made.append(part)
            else:
                made.append(chars(rng, part[0], rng.randint(part[1], part[-1])))
        return "".join(made)

    return make


def one_of(*shapes: Shape) -> Shape:
    """Return a shape that picks one of several."""
    return lambda rng: rng.choice(shapes)(rng)


def _segment(rng: Random, value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt(rng: Random) -> str:
    """Return a signed web token."""
    header = {"alg": rng.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"}
    claims = {
        "sub": chars(rng, DIGITS, 10),
        "name": rng.choice(NAMES),
        "iat": rng.randint(1_500_000_000, 1_900_000_000),
    }
    return f"{_segment(rng, header)}.{_segment(rng, claims)}.{chars(rng, URLSAFE, rng.choice([43, 86]))}"


def pem(rng: Random) -> str:
    """Return a private key block with real line breaks."""
    label = rng.choice(["RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", ""])
    body = [chars(rng, BASE64, 64) for _ in range(rng.randint(3, 25))] + [chars(rng, BASE64, 22) + "=="]
    return "\n".join([f"-----BEGIN {label}PRIVATE KEY-----", *body, f"-----END {label}PRIVATE KEY-----"])


def pgp(rng: Random) -> str:
    """Return an ASCII-armoured private key block."""
    body = [chars(rng, BASE64, 64) for _ in range(rng.randint(5, 20))]
    head, tail = "-----BEGIN PGP PRIVATE KEY BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----"
    return "\n".join([head, "", *body, "=" + chars(rng, BASE64, 4), tail])


def pem_escaped(rng: Random) -> str:
    r"""Return a private key as one string literal, its line breaks written `\n`."""
    return pem(rng).replace("\n", rng.choice(["\\n", "\\r\\n", "\\\\n"]))


def pem_wrapped(rng: Random) -> str:
    """Return a private key encoded once more as base64, as secrets stand in a Kubernetes manifest."""
    return base64.b64encode(pem(rng).encode()).decode()


def pem_cut(rng: Random) -> str:
    """Return the first half of a private key: a key split over two memories."""
    return pem(rng).rsplit("\n", 2)[0]


def password(rng: Random) -> str:
    """Return a password as people make them: mixed, leet, a phrase, or a manager's."""
    word, other = rng.choice(WORDS), rng.choice(WORDS)
    mark = rng.choice("!@#$%&*?")
    leet = word.capitalize().translate(str.maketrans("aeio", "4310"))
    return rng.choice(
        [
            f"{word.capitalize()}{rng.randint(1950, 2026)}{mark}",
            f"{leet}{mark}{rng.randint(1, 99)}",
            f"{word}-{other}-{rng.choice(WORDS)}-{rng.randint(10, 99)}",
            f"{word}{rng.randint(10, 9999)}",
            f"{word.capitalize()}{other.capitalize()}{mark}",
            chars(rng, ALNUM, rng.randint(9, 12)) + mark + chars(rng, ALNUM, rng.randint(2, 6)),
            chars(rng, ALNUM, rng.randint(12, 24)),
        ]
    )


def url_password(rng: Random) -> str:
    """Return a password that may stand in a URL."""
    return "".join(char for char in password(rng) if char in ALNUM + "-_!*") + chars(rng, DIGITS, 2)


def telegram(rng: Random) -> str:
    """Return a bot token."""
    return f"{rng.randint(100_000_000, 7_999_999_999)}:AA{chars(rng, URLSAFE, 33)}"


def discord(rng: Random) -> str:
    """Return a bot token."""
    user = base64.b64encode(chars(rng, DIGITS, 18).encode()).decode().rstrip("=")
    return f"{user}.{chars(rng, URLSAFE, 6)}.{chars(rng, URLSAFE, 38)}"


def connection(rng: Random) -> str:
    """Return a connection string that carries a password."""
    scheme = rng.choice(
        ["postgres", "postgresql", "mysql", "mongodb", "mongodb+srv", "redis", "rediss", "amqps", "postgresql+psycopg"]
    )
    host = rng.choice(
        ["localhost", "10.0.3.17", f"db-{rng.choice(WORDS)}.internal", f"{rng.choice(WORDS)}.example.com"]
    )
    port, user = rng.choice(["", ":5432", ":6379"]), rng.choice(["app", "root", "svc_billing", "admin", ""])
    return f"{scheme}://{user}:{url_password(rng)}@{host}{port}/{rng.choice(WORDS)}"


def web_login(rng: Random) -> str:
    """Return a web or git address with user and password in it."""
    scheme = rng.choice(["https", "http", "ftp", "sftp", "smtp"])
    return f"{scheme}://{rng.choice(WORDS)}:{url_password(rng)}@{rng.choice(WORDS)}.example.org/{rng.choice(WORDS)}"


def key_value_login(rng: Random) -> str:
    """Return a connection string of key=value pairs."""
    server, user = f"{rng.choice(WORDS)}.example.net", rng.choice(["sa", "app", "report"])
    return rng.choice(
        [
            f"Server={server};Database=main;User Id={user};Password={url_password(rng)};",
            f"host={server} port=5432 user={user} password={url_password(rng)} dbname=main",
            f"jdbc:mysql://{server}:3306/main?user={user}&password={url_password(rng)}",
        ]
    )


def basic(rng: Random) -> str:
    """Return the value of a basic authorization header."""
    return base64.b64encode(f"{rng.choice(WORDS)}:{password(rng)}".encode()).decode()
