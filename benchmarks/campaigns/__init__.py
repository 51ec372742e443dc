"""Campaigns: long runs that try to make the store break a promise, each with a broken build that has to fail.

    python -m benchmarks.campaigns                      list them
    python -m benchmarks.campaigns NAME [--size small|full] [--seed 1] [--set KEY=NUMBER] [--broken BUILD] [--record]
    python -m benchmarks.campaigns --page               write docs/reliability.md from the recorded results

Source: docs/spec/audit.md §6.
"""
