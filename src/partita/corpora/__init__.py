"""Corpora: documents with keys (gold labels), CoNLL-U with entities, MUC-4 templates."""
