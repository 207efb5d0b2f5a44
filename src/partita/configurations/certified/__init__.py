"""Certified intervals for sets beyond the exact methods."""
