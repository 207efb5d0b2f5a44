"""Runs in a database: the only SQL."""
