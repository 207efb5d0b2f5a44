"""Intervals that hold."""
