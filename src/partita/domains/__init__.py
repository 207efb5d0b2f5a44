"""Domains as data: for each a folder of sorts, slots, lexicon and rules, written without Python."""
