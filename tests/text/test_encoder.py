"""An encoder in a local folder: read, used for how similar expressions are, refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
tokenizers = pytest.importorskip("tokenizers")

import partita  # noqa: E402
from partita.configurations.joint.features import joint_columns  # noqa: E402
from partita.errors import InputError  # noqa: E402
from partita.text.encoder import Encoder, read_encoder  # noqa: E402
from partita.text.words import shipped_words  # noqa: E402

WORDS = ("[UNK]", "[PAD]", "firm", "supplier", "ferry", "the", "a")
VECTORS = np.array(
    [[0, 0, 1], [9, 9, 9], [1, 0, 1], [0.9, 0.1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1]], np.float32
)
TEXT = "The firm bought a ferry. The supplier paid."


def write_model(folder: Path, output: str = "last_hidden_state") -> Path:
    """Write a model that looks up a vector for each token, as Bert's first layer does."""
    folder.mkdir(exist_ok=True)
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    words.normalizer = tokenizers.normalizers.Lowercase()
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(folder / "tokenizer.json"))
    helper, whole, single = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], [output])],
        "tiny",
        [helper.make_tensor_value_info("input_ids", whole, ["texts", "tokens"])],
        [helper.make_tensor_value_info(output, single, ["texts", "tokens", 3])],
        [onnx.numpy_helper.from_array(VECTORS, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "onnx").mkdir(exist_ok=True)
    onnx.save(model, str(folder / "onnx" / "model.onnx"))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("encoder"))


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / math.sqrt(float((vector**2).sum()))


def test_vectors_are_means_of_tokens_without_what_all_texts_share(folder: Path) -> None:
    encoder = read_encoder(str(folder))
    found = encoder.vectors(["the firm", "", "supplier", "ferry", "the firm"])
    table = shipped_words()
    frequent = [table.words[n] for n in np.argsort(-table.frequencies, kind="stable")[:256]]
    rows = [WORDS.index(word) if word in WORDS else 0 for word in frequent]
    common = np.mean([unit(VECTORS[row]) for row in rows], axis=0)
    expected = unit(unit(VECTORS[[5, 2]].mean(axis=0)) - common)
    np.testing.assert_allclose(found[0], expected, atol=1e-5)
    np.testing.assert_array_equal(found[4], found[0])
    assert not found[1].any()
    assert found[0] @ found[2] > 0.9 > found[0] @ found[3]


def test_its_vectors_say_how_similar_expressions_are(folder: Path) -> None:
    templates = partita.run(TEXT).mentions
    encoder = read_encoder(str(folder))
    columns = joint_columns(templates, {}, encoder=encoder)
    texts = [" ".join(templates[n].text.lower().split()) for n in columns.order.tolist()]
    np.testing.assert_array_equal(columns.mentions.phrases, encoder.vectors(texts))


def test_run_uses_it_and_says_so(folder: Path) -> None:
    plain, encoded = partita.run(TEXT), partita.run(TEXT, encoder=folder)
    pairs = [one.distributions[0].marginals.value for one in (plain, encoded)]
    assert np.abs(pairs[0] - pairs[1]).max() > 1e-3


def test_without_onnx_runtime_one_line_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    read_encoder.cache_clear()
    with pytest.raises(InputError, match=r"partita\[encoder\]"):
        read_encoder(str(folder))


def test_what_is_no_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tokenizer\.json"):
        read_encoder(str(tmp_path))
    write_model(tmp_path)
    with pytest.raises(InputError, match="needs the model joint"):
        partita.run(TEXT, domain="depots", model="evidential", encoder=tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0"}), "utf-8")
    with pytest.raises(InputError, match="ONNX model with its tokenizer"):
        read_encoder(str(tmp_path))


def test_a_model_of_other_inputs_is_refused(folder: Path) -> None:
    known = read_encoder(str(folder))
    other = Encoder(known.session, known.tokenizer, "there", "")
    other.session = None
    with pytest.raises(InputError, match="there: is no encoder"):
        other.vectors(["the firm"])
