"""spaCy: a Doc as input of run, and the component."""

from __future__ import annotations

from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

import partita
from partita.errors import InputError
from partita.text.expressions import Tree, role_of
from partita.text.spacy_docs import doc_annotation

TEXT = "A depot was found in Kinston. The depot is new."
CONFIG = {"domain": "depots"}

# word, part of speech, tag, head, label of spaCy's English pipelines
PARSED = """
Acme PROPN NNP 2 poss
's PART POS 0 case
boss NOUN NN 3 nsubj
is AUX VBZ 3 ROOT
a DET DT 5 det
friend NOUN NN 3 attr
of ADP IN 5 prep
Ann PROPN NNP 8 compound
Smith PROPN NNP 6 pobj
and CCONJ CC 8 cc
Bo PROPN NNP 8 conj
. PUNCT . 3 punct
She PRON PRP 13 nsubj
lost VERB VBD 13 ROOT
her PRON PRP$ 15 poss
dog NOUN NN 13 dobj
who PRON WP 17 nsubj
ran VERB VBD 15 relcl
in ADP IN 17 prep
May PROPN NNP 18 pobj
. PUNCT . 13 punct
"""


def parsed() -> Doc:
    rows = [line.split() for line in PARSED.split("\n") if line]
    words, tags, fine, heads, labels = zip(*rows, strict=True)
    lemmas = ["be" if word == "is" else word.lower() for word in words]
    return Doc(
        spacy.blank("en").vocab,
        words=list(words),
        spaces=[word not in ("Acme", "Bo", "May") for word in words],
        pos=list(tags),
        tags=list(fine),
        heads=[int(head) for head in heads],
        deps=list(labels),
        lemmas=lemmas,
        ents=["B-ORG", "O", "O", "O", "O", "O", "O", "B-PERSON", "I-PERSON", "O", "B-PERSON"]
        + ["O"] * 8 + ["B-DATE", "O"],
    )  # fmt: skip


def test_noun_chunks_entities_and_pronouns_are_the_mentions() -> None:
    doc = parsed()
    annotation = doc_annotation(doc)
    assert annotation is not None
    found = {doc.text[one.start : one.end]: one.type for one in annotation.mentions or ()}
    assert found == {
        "Acme's boss": "", "Acme": "organization", "a friend": "", "Ann Smith": "person",
        "Bo": "person", "She": "", "her dog": "", "her": "", "May": "time",
    }  # fmt: skip


def test_labels_become_universal_dependencies() -> None:
    annotation = doc_annotation(parsed())
    assert annotation is not None
    first, second = annotation.sentences or ()
    words = first.tree.words
    names = {word.form: (words[word.head].form if word.head >= 0 else "", word.relation)
             for word in words}  # fmt: skip
    assert names["friend"] == ("", "root")
    assert names["is"] == ("friend", "cop")
    assert names["boss"] == ("friend", "nsubj")
    assert names["Acme"] == ("boss", "nmod:poss")
    assert names["Smith"] == ("friend", "nmod")
    assert names["of"] == ("Smith", "case")
    assert names["and"] == ("Bo", "cc")
    assert names["Bo"] == ("Smith", "conj")
    assert [second.tree.words[n].relation for n in (2, 3, 7)] == ["nmod:poss", "obj", "obl"]
    assert role_of(Tree(second.tree.words), 3) == "object"
    assert first.spans[2] == (7, 11)


def test_a_doc_without_a_parse_is_analysed_as_text() -> None:
    doc = spacy.blank("en")(TEXT)
    assert doc_annotation(doc) is None
    result = partita.run(doc, domain="depots")
    assert isinstance(result, partita.ResolvedMessage)
    assert result.to_dict() == partita.run(TEXT, domain="depots").to_dict()
    assert len(partita.run([doc, doc], domain="depots")) == 2
    with pytest.raises(InputError, match="the Doc is empty"):
        partita.run(spacy.blank("en")("  "), domain="depots")


ARTICLE = "Maria Lopez leads Acme Corp. in Paris. She founded the company in 2009."


def test_a_doc_is_read_by_the_general_domain() -> None:
    doc = spacy.blank("en")(ARTICLE)
    entities = partita.run(doc).entities
    [person] = [one for one in entities if one.name == "Maria Lopez"]
    assert (person.type, len(person.templates)) == ("person", 2)
    result = partita.run(parsed())
    assert {"Acme", "She", "her dog"} <= {one.text for one in result.resolved.templates}


def test_the_component_reads_ordinary_text_by_default() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("partita")
    doc = nlp(ARTICLE)
    groups = [[span.text for span in group] for group in doc.spans.values()]
    assert ["Maria Lopez", "She"] in groups
    assert ["Acme Corp.", "the company"] in groups


def pipeline(**config: Any) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("partita", config=CONFIG | config)
    return nlp


def test_the_component_adds_clusters_with_probabilities() -> None:
    doc = pipeline()(TEXT)
    group = doc.spans["coref_clusters_1"]
    assert [span.text for span in group] == ["A depot", "The depot"]
    assert {span.label_ for span in group} == {"DEPOT"}
    (entity,) = [one for one in doc._.partita.entities if len(one.templates) > 1]
    assert group.attrs["probability"] == entity.probability
    assert group.attrs["entity"] == entity.id
    assert list(doc.spans) == ["coref_clusters_1"]


def test_the_component_works_in_pipes_and_its_docs_are_written() -> None:
    nlp = pipeline(spans_key="who", singletons=True)
    docs = list(nlp.pipe([TEXT, "", "Nothing here.", TEXT]))
    assert [len(doc.spans) for doc in docs] == [1, 0, 0, 1]
    again = Doc(nlp.vocab).from_bytes(docs[0].to_bytes())
    assert [span.text for span in again.spans["who_1"]] == ["A depot", "The depot"]
    assert again.spans["who_1"].attrs == docs[0].spans["who_1"].attrs
    assert again._.partita is None
    assert docs[1]._.partita is None
    assert docs[3]._.partita.message.text == TEXT
    assert list(nlp.get_pipe("partita")(docs[0]).spans) == ["who_1"]


def test_the_pipeline_is_saved_and_loaded(tmp_path: Any) -> None:
    nlp = pipeline(spans_key="who")
    nlp.to_disk(tmp_path)
    doc = spacy.load(tmp_path)(TEXT)
    assert list(doc.spans) == ["who_1"]
    assert nlp.get_pipe_meta("partita").assigns == ["doc.spans", "doc._.partita"]


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match=r"^unknown domain 'nowhere'"):
        pipeline(domain="nowhere")
