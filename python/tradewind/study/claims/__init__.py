"""Findings: the tests that decide them, and what came out."""
