"""Vectors of expressions from an encoder in a local folder, in place of those of the word table.

A folder as sentence-transformers keeps it: `tokenizer.json`, and `model.onnx` in it or in `onnx`.
Needs onnxruntime and tokenizers (`pip install "partita[encoder]"`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.text.words import shipped_words

Vectors = NDArray[np.float32]
MODELS = ("model.onnx", "onnx/model.onnx")
TOKENS, BATCH = 64, 32  # of an expression; expressions that are encoded together
COMMON = 256  # frequent words whose mean is no direction of its own


@dataclass(eq=False)
class Encoder:
    """A loaded model; `digest` tells it from others."""

    session: Any
    tokenizer: Any
    file: str
    digest: str
    _known: dict[str, Vectors] = field(default_factory=dict)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for each text, 0 for an empty one.

        Encoders give all texts much in common. The mean of frequent words is taken away, so that
        unrelated texts have cosines near 0, as in the table of words.
        """
        nothing, new = np.zeros_like(self._common), sorted({*texts} - {"", *self._known})
        for text, vector in zip(new, self._encoded(new) if new else (), strict=True):
            self._known[text] = _unit(vector - self._common)
        return np.stack([self._known.get(text, nothing) for text in texts])

    @cached_property
    def _common(self) -> Vectors:
        table = shipped_words()
        frequent = np.argsort(-table.frequencies, kind="stable")[:COMMON].tolist()
        mean: Vectors = self._encoded([table.words[n] for n in frequent]).mean(axis=0)
        return mean

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of the last layer over the tokens of each text, at length 1."""
        batches = (texts[n : n + BATCH] for n in range(0, len(texts), BATCH))
        return np.concatenate([self._batch(batch) for batch in batches])

    def _batch(self, texts: Sequence[str]) -> Vectors:
        read = self.tokenizer.encode_batch(list(texts))
        known = {
            "input_ids": np.array([one.ids for one in read], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in read], dtype=np.int64),
            "token_type_ids": np.array([one.type_ids for one in read], dtype=np.int64),
        }
        try:
            wanted = {one.name: known[one.name] for one in self.session.get_inputs()}
            layer = np.asarray(self.session.run(None, wanted)[0], dtype=np.float32)
            mask = known["attention_mask"][:, :, None].astype(np.float32)
            means = (layer * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1.0)
        except Exception as error:  # onnxruntime raises errors of its own
            problem = "is no encoder of texts (expected tokens in, a vector for each token out)"
            raise InputError(problem, file=self.file) from error
        return np.stack([_unit(mean) for mean in means])


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = vector / max(float(np.sqrt((vector**2).sum())), 1e-9)
    return unit


@lru_cache(maxsize=1)
def read_encoder(folder: str) -> Encoder:
    """Return the encoder of a folder."""
    try:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer
    except ImportError as error:
        problem = 'needs onnxruntime and tokenizers (expected pip install "partita[encoder]")'
        raise InputError(problem, file=folder) from error
    model = next((path for name in MODELS if (path := Path(folder, name)).is_file()), None)
    words = Path(folder, "tokenizer.json")
    if model is None or not words.is_file():
        raise InputError(f"has no {' or '.join(MODELS)} with tokenizer.json", file=folder)
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # processes share the machine
    try:
        session = InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(words))
    except Exception as error:  # both raise errors of their own
        raise InputError("is not an ONNX model with its tokenizer", file=folder) from error
    tokenizer.enable_truncation(TOKENS)
    tokenizer.enable_padding()
    digest = hashlib.sha256(model.read_bytes() + words.read_bytes()).hexdigest()
    return Encoder(session, tokenizer, folder, digest)
