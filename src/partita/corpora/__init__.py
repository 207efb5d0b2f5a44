"""Corpora: documents with keys (gold labels) and CoNLL-U with entities."""
