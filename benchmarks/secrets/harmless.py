"""Generate lines that look like credentials and are none: hashes, ids, public keys, code, logs, talk of passwords."""

import base64
import uuid
from collections.abc import Callable
from random import Random

from benchmarks.secrets.shapes import ALNUM, BASE64, DIGITS, HEX, LOWER, NAMES, UPPER, URLSAFE, WORDS, chars

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"


def _git(rng: Random) -> str:
    sha, short = chars(rng, HEX, 40), chars(rng, HEX, rng.choice([7, 8, 10, 12]))
    return rng.choice(
        [
            f"commit {sha}",
            f"fixed in {short} ({rng.choice(WORDS)} branch)",
            f"git checkout {sha} -- src/{rng.choice(WORDS)}.py",
            f"index {short}..{chars(rng, HEX, 8)} 100644",
            f"https://github.com/{rng.choice(WORDS)}/{rng.choice(WORDS)}/commit/{sha}",
            f"uses: actions/checkout@{sha}",
            f"{rng.choice(WORDS)} @ git+https://github.com/a/{rng.choice(WORDS)}@{sha}",
        ]
    )


def _uuid(rng: Random) -> str:
    value = uuid.UUID(int=rng.getrandbits(128), version=4)
    return rng.choice(
        [
            f"request_id={value}",
            f"idempotency_key: {value}",
            f'"session_id": "{value}",',
            f"user {value} signed in",
            f"/api/v1/orders/{value}/items",
            f"The trace id was {value}",
            f"x-correlation-id: {value}",
            f"Tenant key {value} belongs to {rng.choice(NAMES)}",
        ]
    )


def _ulid(rng: Random) -> str:
    value = "01" + chars(rng, CROCKFORD, 24)
    return rng.choice([f"{value.upper()}", f"event {value.upper()} was replayed", f"id: {value}", f'"key": "{value}"'])


def _own_id(rng: Random) -> str:
    prefix = rng.choice(["mem", "req", "ses", "hum", "agt", "evt"])
    value = f"{prefix}-{chars(rng, CROCKFORD, 26)}"
    return rng.choice(
        [
            value,
            f"[^3]: {value} — {rng.choice(WORDS)} (2026-05-14)",
            f"derived_from {value}",
            f'{{"id": "{value}", "namespace": "team/alpha"}}',
            f"ai-memory get {value}",
            f"Superseded by {value}.",
        ]
    )


def _root(rng: Random) -> str:
    root = chars(rng, HEX, 64)
    encoded = base64.b64encode(rng.randbytes(32)).decode()
    return rng.choice(
        [
            f"checkpoint 1024 root {root}",
            f"state_root={root}",
            f"ai-memory/store\n1024\n{encoded}\n",
            f"root hash: {encoded}",
            f'"event_hash": "{root}", "prev_hash": "{chars(rng, HEX, 64)}"',
            f"payload_hash {root}",
            f"— store+{chars(rng, HEX, 8)} {base64.b64encode(rng.randbytes(68)).decode()}",
        ]
    )


def _public_key(rng: Random) -> str:
    ssh = "AAAAC3NzaC1lZDI1NTE5AAAAI" + chars(rng, BASE64, 43)
    rsa = "AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + chars(rng, BASE64, 300)
    block = "\n".join(chars(rng, BASE64, 64) for _ in range(5))
    return rng.choice(
        [
            f"ssh-ed25519 {ssh} {rng.choice(WORDS)}@laptop",
            f"ssh-rsa {rsa} deploy@{rng.choice(WORDS)}",
            f"-----BEGIN PUBLIC KEY-----\n{block}\n-----END PUBLIC KEY-----",
            f"-----BEGIN CERTIFICATE-----\n{block}\n-----END CERTIFICATE-----",
            f"public_key: {chars(rng, HEX, 64)}",
            f'"public_key": "{base64.b64encode(rng.randbytes(32)).decode()}"',
            f"key fingerprint SHA256:{chars(rng, BASE64, 43)}",
            f"age1{chars(rng, 'qpzry9x8gf2tvdw0s3jn54khce6mua7l', 58)}",
            f"pk_live_{chars(rng, ALNUM, 24)} is the publishable key",
            f"wg pubkey {chars(rng, BASE64, 43)}=",
        ]
    )


def _digest(rng: Random) -> str:
    return rng.choice(
        [
            f"{chars(rng, HEX, 64)}  dist/{rng.choice(WORDS)}-1.4.{rng.randint(0, 9)}.tar.gz",
            f"sha256:{chars(rng, HEX, 64)}",
            f"image: registry.example.com/{rng.choice(WORDS)}@sha256:{chars(rng, HEX, 64)}",
            f'"integrity": "sha512-{chars(rng, BASE64, 86)}=="',
            f"    --hash=sha256:{chars(rng, HEX, 64)} \\",
            f"md5 {chars(rng, HEX, 32)}",
            f'ETag: "{chars(rng, HEX, 32)}"',
            f"sha1sum says {chars(rng, HEX, 40)}",
            f"golang.org/x/{rng.choice(WORDS)} v0.3.{rng.randint(0, 9)} h1:{chars(rng, BASE64, 43)}=",
            f"content hash {chars(rng, HEX, 64)} matches",
        ]
    )


def _image(rng: Random) -> str:
    png = "iVBORw0KGgoAAAANSUhEUgAA" + chars(rng, BASE64, rng.randint(80, 600))
    gif = "R0lGODlhAQABAIAAAAAAAP///" + chars(rng, BASE64, 40)
    return rng.choice(
        [
            f"![logo](data:image/png;base64,{png}==)",
            f'<img src="data:image/gif;base64,{gif}=">',
            f"background: url(data:image/png;base64,{png})",
            f'"thumbnail": "{png}="',
            f"data:font/woff2;base64,d09GMgABAAAAA{chars(rng, BASE64, 200)}",
            png,
        ]
    )


def _version(rng: Random) -> str:
    number = f"{rng.randint(0, 30)}.{rng.randint(0, 20)}.{rng.randint(0, 99)}"
    return rng.choice(
        [
            f"{rng.choice(WORDS)}=={number}",
            f"upgraded to v{number}-rc.{rng.randint(1, 9)}+build.{chars(rng, HEX, 7)}",
            f"Python {number} (main, Mar  3 2026, 10:11:12) [GCC 13.2.0]",
            f"node_modules/{rng.choice(WORDS)}/dist/index.{chars(rng, HEX, 8)}.js",
            f"linux-image-{number}-{rng.randint(10, 99)}-generic",
            f"{rng.choice(WORDS)}@npm:{number}",
        ]
    )


def _log(rng: Random) -> str:
    stamp = f"2026-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}T1{rng.randint(0, 9)}:22:05.{rng.randint(100, 999)}Z"
    return rng.choice(
        [
            f"{stamp} INFO token refreshed for user {rng.choice(NAMES).lower()} in {rng.randint(1, 90)} ms",
            f"{stamp} WARN password check failed for {rng.choice(NAMES).lower()} from 10.1.{rng.randint(0, 255)}.4",
            f"{stamp} ERROR invalid token: expired at {rng.randint(1_700_000_000, 1_800_000_000)}",
            f"{stamp} DEBUG pool={rng.choice(WORDS)} conn=0x{chars(rng, HEX, 12)} state=idle",
            f"[{rng.randint(1000, 99999)}] GET /reset-password?lang=en 200 {rng.randint(1, 999)}ms",
            f"{stamp} INFO loaded secret {rng.choice(WORDS)}-tls from namespace prod",
            f"kubelet: volume set up for pod {rng.choice(WORDS)}-{chars(rng, LOWER + DIGITS, 9)}",
            f"prompt_tokens: {rng.randint(10, 9999)}, completion_tokens: {rng.randint(10, 999)}, total_tokens: 9120",
            f"{stamp} INFO auth method=password user=svc_{rng.choice(WORDS)} result=ok",
            f"sshd[{rng.randint(100, 9999)}]: Accepted publickey for root from 10.0.0.3 port 50122 ssh2",
        ]
    )


def _address(rng: Random) -> str:
    return rng.choice(
        [
            f"https://docs.google.com/document/d/1{chars(rng, URLSAFE, 43)}/edit",
            f"https://www.youtube.com/watch?v={chars(rng, URLSAFE, 11)}",
            f"https://{rng.choice(WORDS)}.example.com/{rng.choice(WORDS)}/{chars(rng, LOWER + DIGITS, 12)}?page=2",
            f"postgres://app@db.internal:5432/{rng.choice(WORDS)}",
            f"redis://localhost:6379/{rng.randint(0, 15)}",
            f"git@github.com:{rng.choice(WORDS)}/{rng.choice(WORDS)}.git",
            f"mailto:{rng.choice(NAMES).lower()}@example.com",
            f"s3://{rng.choice(WORDS)}-backups/2026/05/14/{uuid.UUID(int=rng.getrandbits(128), version=4)}.parquet",
            f"https://example.slack.com/archives/C{chars(rng, UPPER + DIGITS, 10)}/p{chars(rng, DIGITS, 16)}",
            f"https://arxiv.org/abs/24{rng.randint(10, 12)}.{rng.randint(10000, 19999)}v2",
            f"ssh://{rng.choice(WORDS)}@host.example.net:2222/srv/repo",
            f"https://medium.com/@{rng.choice(WORDS)}/how-to-store-a-password-{chars(rng, HEX, 12)}",
        ]
    )


def _placeholder(rng: Random) -> str:
    key = rng.choice(["api_key", "password", "client_secret", "token", "DB_PASSWORD", "SECRET_KEY", "access_token"])
    value = rng.choice(
        [
            f"${{{key.upper()}}}",
            f"<your-{key.lower()}>",
            f'os.environ["{key.upper()}"]',
            f"os.getenv('{key.upper()}')",
            "********",
            "changeme",
            "xxxxxxxxxxxxxxxx",
            "None",
            "null",
            '""',
            f"{{{{ vault.{key.lower()} }}}}",
            f"settings.{key.upper()}",
            "***REDACTED***",
            "[redacted]",
            f"your_{key.lower()}_here",
            f"${key.upper()}",
            "...",
            f"process.env.{key.upper()}",
            "%(db_password)s",
            "true",
            "required",
            "string",
            f"config.get('{key.lower()}')",
            "!vault |",
            "<redacted>",
            "(stored in 1Password)",
        ]
    )
    return rng.choice([f"{key}={value}", f"{key}: {value}", f"{key} = {value}", f"export {key.upper()}={value}"])


def _setting(rng: Random) -> str:
    return rng.choice(
        [
            f"max_tokens: {rng.randint(16, 8192)}",
            f"primary_key={rng.choice(WORDS)}_id",
            f'cache_key = "user:{rng.randint(1, 9999)}:profile"',
            f"partition_key: tenant/{rng.choice(WORDS)}/region",
            f"token_count={rng.randint(1, 99999)}",
            f"tokenizer: {rng.choice(WORDS)}-bpe-{rng.randint(30, 60)}k",
            f"secret_name: {rng.choice(WORDS)}-tls",
            f"password_min_length = {rng.randint(8, 20)}",
            f"keyboard_layout={rng.choice(WORDS)}",
            f"PasswordAuthentication {rng.choice(['yes', 'no'])}",
            f"api_key_rotation_days: {rng.randint(7, 90)}",
            f"token_url: https://auth.{rng.choice(WORDS)}.example.com/oauth/token",
            f"secretRef: {rng.choice(WORDS)}-credentials",
            f"sort_key = lambda row: row.{rng.choice(WORDS)}",
            f"password_file: /run/secrets/{rng.choice(WORDS)}_password",
            f"auth_token_ttl={rng.randint(60, 86400)}s",
            f"foreign_key: {rng.choice(WORDS)}.{rng.choice(WORDS)}_id",
            f"nextPageToken: {chars(rng, ALNUM, 16)}",
            f"encryption_key_id: alias/{rng.choice(WORDS)}-prod",
        ]
    )


def _talk(rng: Random) -> str:
    name, other, word = rng.choice(NAMES), rng.choice(NAMES), rng.choice(WORDS)
    return rng.choice(
        [
            f"{name} forgot the password again and had to reset it.",
            f"{name} asked {other} for the wifi password, but nobody knew it.",
            f"The {word} team keeps its passwords in a vault, never in chat.",
            f"{name} thinks the token is expired; {other} will look on Monday.",
            f"The password is stored in the {word} vault.",
            f"The password is too short, {other} said.",
            f"Password must be at least {rng.randint(8, 16)} characters long.",
            f"{name} wants password resets to go through the {word} page.",
            f"The secret to a good {word} soup is patience.",
            f"The key is under the {word} pot, {name} joked.",
            f"{name} prefers passkeys; a password is only the fallback.",
            f"API keys are rotated every {rng.randint(30, 90)} days by {name}.",
            f"We spent {rng.randint(2, 90)}k tokens on the {word} prompt.",
            f"Her password was guessed because it was the name of her {word}.",
            f"the password for staging is in the {word} repo's vault",
            f"{name}'s password is the same as last year, and that is the problem",
            f"Token: the {word} chip that {name} brought back from the arcade",
            f"Password reset link was sent to {name.lower()}@example.com",
            f"{name} said the password is wrong.",
            f"login as {name.lower()} needs a password and a code from the app",
        ]
    )


def _number(rng: Random) -> str:
    return rng.choice(
        [
            f"Invoice {rng.randint(10_000_000, 99_999_999)} over {rng.randint(100, 9999)}.{rng.randint(10, 99)} EUR",
            f"call +49 30 {rng.randint(100000, 999999)} after 5pm",
            f"order 3-{chars(rng, DIGITS, 7)}-{chars(rng, DIGITS, 7)} shipped",
            f"ISBN 978-3-{chars(rng, DIGITS, 2)}-{chars(rng, DIGITS, 6)}-0",
            f"MAC {':'.join(chars(rng, HEX, 2) for _ in range(6))}",
            f"at {rng.uniform(-90, 90):.6f}, {rng.uniform(-180, 180):.6f}",
            f"fe80::{chars(rng, HEX, 4)}:{chars(rng, HEX, 4)}:{chars(rng, HEX, 4)}",
            f"#{chars(rng, HEX, 6)} on #{chars(rng, HEX, 6)}",
            f"tracking number 1Z{chars(rng, UPPER + DIGITS, 16)}",
            f"VIN {chars(rng, 'ABCDEFGHJKLMNPRSTUVWXYZ' + DIGITS, 17)}",
            f"serial C{chars(rng, UPPER + DIGITS, 11)}, bought in May",
            f"flight {chars(rng, UPPER, 2)}{rng.randint(100, 9999)}, booking code {chars(rng, UPPER + DIGITS, 6)}",
        ]
    )


def _identifier(rng: Random) -> str:
    camel = "".join(rng.choice(WORDS).capitalize() for _ in range(rng.randint(3, 6)))
    snake = "_".join(rng.choice(WORDS) for _ in range(rng.randint(4, 8)))
    return rng.choice(
        [
            f"class {camel}Factory extends {camel[:12]}Base {{",
            f"def test_{snake}():",
            f"sk-{rng.choice(WORDS)}-{rng.choice(WORDS)} is a package",
            f"hf_{rng.choice(WORDS)}_download(repo)",
            f"npm_{rng.choice(WORDS)}_config=1",
            f"const {camel} = require('{rng.choice(WORDS)}-{rng.choice(WORDS)}');",
            f"com.example.{rng.choice(WORDS)}.{rng.choice(WORDS)}.{camel}",
            f"arn:aws:iam::{chars(rng, DIGITS, 12)}:role/{camel}",
            f"projects/{rng.choice(WORDS)}-{rng.randint(1, 999)}/locations/europe-west1/keyRings/{rng.choice(WORDS)}",
            f"xoxo from {rng.choice(NAMES)}, see branch {rng.choice(WORDS)}/{snake}",
            f"gh_{snake} and key-{rng.choice(WORDS)}-{rng.choice(WORDS)}",
        ]
    )


KINDS: dict[str, Callable[[Random], str]] = {
    "git": _git,
    "uuid": _uuid,
    "ulid": _ulid,
    "own_id": _own_id,
    "checkpoint": _root,
    "public_key": _public_key,
    "digest": _digest,
    "image": _image,
    "version": _version,
    "log": _log,
    "address": _address,
    "placeholder": _placeholder,
    "setting": _setting,
    "talk": _talk,
    "number": _number,
    "identifier": _identifier,
}
