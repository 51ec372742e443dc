"""Keep the signed, tamper-evident log: bytes, keys, tree, checkpoints, proofs and their verification.

Pure: no database, no environment, no clock. Source: docs/spec/audit.md.
"""
