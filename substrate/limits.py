"""Name every number of the product: one constant, its unit, where it comes from.

No budget serves two products. Nothing here is a default hidden inside a function: a caller that needs a number
imports it, and the reference page lists them from this file. Sizes in bytes are bytes of UTF-8; lengths in
characters are Unicode code points.

Source: docs/spec/requirements.md (the S lines named below), docs/spec/persona.md, docs/spec/model.md C9 and C16.
"""

from typing import Final

KIB: Final = 1024

# --- names -------------------------------------------------------------------------------------------------
ENTITY_ID_BYTES: Final = 128  # bytes of a trimmed entity id (S3-44)
NAMESPACE_BYTES: Final = 256  # bytes of a namespace path
NAMESPACE_SEGMENT_CHARS: Final = 64  # characters of one path segment; a segment is ASCII
NAME_CHARS: Final = 64  # characters of a memory's name (S2-4)
RESERVED_NAMES: Final = frozenset({"index"})  # the rendered index is a file of that name (S2-5)
TAGS: Final = 5  # tags a memory (S1-34)
TAG_CHARS: Final = 32  # characters a tag (S1-34)
HANDLE_CHARS: Final = 64  # characters of a principal's handle
REF_BYTES: Final = 512  # bytes of an id or public reference as an argument
FILE_NAME_BYTES: Final = 200  # bytes of a file name we make; file systems stop at 255

# --- texts -------------------------------------------------------------------------------------------------
MEMORY_BYTES: Final = 64 * KIB  # bytes a memory outside agent, role and project stores (S1-35)
ENTRY_BYTES: Final = 2 * KIB  # bytes an entry of an agent, role or project store (S1-35)
STORE_BYTES: Final = 64 * KIB  # bytes of live entries an agent, role or project store (S1-56)
TITLE_CHARS: Final = 300  # characters of a title, one line
DESCRIPTION_CHARS: Final = 500  # characters of a description, one line
REASON_CHARS: Final = 1_000  # characters of a reason for a change, one line
SOUL_BYTES: Final = 8 * KIB  # bytes of a soul (S1-24)
PREFERENCES_BYTES: Final = 8 * KIB  # bytes of preferences (S1-94)
METADATA_BYTES: Final = 16 * KIB  # bytes of metadata as compact JSON
METADATA_DEPTH: Final = 16  # objects and lists inside each other, the outermost counted
METADATA_INTEGER: Final = 2**53 - 1  # largest integer every JSON reader agrees on (RFC 8785)
APPLIES_TO: Final = 100  # agents a memory may be restricted to
JSON_BYTES: Final = 1024 * KIB  # bytes of one request body or protocol line

# --- reading -----------------------------------------------------------------------------------------------
LIST_DEFAULT: Final = 50  # rows a page
LIST_MAX: Final = 1_000  # rows a page at most
OFFSET_MAX: Final = 2**31 - 1  # rows skipped at most
BATCH_MAX: Final = 1_000  # ids in one call
QUERY_CHARS: Final = 4_000  # characters of a recall query
RECALL_DEFAULT: Final = 6  # hits (S4-57)
RECALL_MAX: Final = 100  # hits at most
RECALL_CHARS: Final = 2_000  # characters of content in one recall (S4-9)
RECALL_CHARS_MAX: Final = 100_000  # characters of content a caller may ask for
RECALL_TOKENS_MAX: Final = 1_000_000  # tokens of content a caller may ask for (S0-17)
RECALL_MIN_SCORE: Final = 0.35  # cosine below which a vector hit is noise (S4-57)

# --- graph -------------------------------------------------------------------------------------------------
REFLECT_SOURCES: Final = 1_000  # sources one reflection may rest on
GRAPH_DEPTH: Final = 10  # links followed at most
GRAPH_DEPTH_DEFAULT: Final = 2  # links followed when the caller does not say
PATHS_DEPTH_DEFAULT: Final = 4  # links on a path when the caller does not say
GRAPH_NODES: Final = 2_000  # memories in one neighbourhood
GRAPH_PATHS: Final = 1_000  # paths in one answer
GRAPH_LINKS: Final = 5_000_000  # links a process keeps in memory at most, 18 bytes each
LINEAGE_NODES: Final = 100_000  # memories one cycle check or cascade walks before it refuses

# --- budgets of the views ----------------------------------------------------------------------------------
CORE_TOKENS: Final = 1_500  # tokens of a core block (C16)
RESUME_LIST_BYTES: Final = 4 * KIB  # bytes of text a list in the compact packet (S1-64)
RESUME_BYTES: Final = 12 * KIB  # bytes of the lists together (S1-64)
RESUME_TEXTS: Final = 8  # preference texts a packet (S1-131)
PROFILE_CHARS: Final = 2_000  # visible characters above which a profile is optimised (S4-22)

# --- persona -----------------------------------------------------------------------------------------------
PERSONA_WORDS_MIN: Final = 300  # words of the body without footnotes (S3-6)
PERSONA_WORDS_MAX: Final = 500  # words, never above (S3-6)
PERSONA_REPAIRS: Final = 1  # further model calls a draft may cost (persona.md §4.6)
PERSONA_SURVIVAL: Final = 0.5  # share of a model's claims that must pass the checks (persona.md §4.6)

# --- one file, several processes ---------------------------------------------------------------------------
BUSY_SECONDS: Final = 10.0  # seconds a process waits for the file before it answers busy
SLICE_SECONDS: Final = 0.050  # seconds the holder works before it looks for waiters
IDLE_SECONDS: Final = 0.250  # seconds without work after which the holder lets go

# --- language models ---------------------------------------------------------------------------------------
LLM_SECONDS: Final = 120.0  # seconds a model call may take, retries included
LLM_RETRIES: Final = 2  # further attempts when a model is not reached, resets the connection or answers 5xx
LLM_BACKOFF_SECONDS: Final = 0.5  # seconds before the first further attempt; doubled before the next
PROBE_SECONDS: Final = 0.5  # seconds a local Ollama has to say that it is there (S0-53)
REACH_SECONDS: Final = 5.0  # seconds a model named by hand has to say so
ANSWER_BYTES: Final = 1024 * KIB  # bytes a model's server may answer with; the connection is cut at more
ANSWER_DEPTH: Final = 32  # objects and lists inside each other in an answer
MODEL_CALLS: Final = 200  # model calls a day (S0-55)

# --- times -------------------------------------------------------------------------------------------------
FUTURE_YEARS: Final = 10  # years ahead of now beyond which a date is taken for a mistake

# --- messages ----------------------------------------------------------------------------------------------
QUOTE_CHARS: Final = 80  # characters of an offending value shown in a message
COMBINING_MARKS: Final = 8  # combining marks shown on one base character; real scripts stay under 6

# --- the store ---------------------------------------------------------------------------------------------
VERIFY_ROWS: Final = 200_000  # rows up to which a predicate read checks the whole store once a process (audit.md §1.5)
FAMILIAR_ROWS: Final = 1_000  # principals and namespaces a process keeps in memory
EVENT_ROWS: Final = 500  # rows one event binds (audit.md §1.1)
EVENT_COMMIT_BYTES: Final = 48 * KIB  # bytes of commitments in one event, which holds 64 KiB in all
INSERT_ROWS: Final = 500  # rows one insert statement carries
LOG_BYTES: Final = 4 * KIB * KIB  # bytes of write-ahead log that a writer lets come together
HANDED_LOG_BYTES: Final = 32 * KIB  # bytes of it that are handed on to somebody who waits, and read there
