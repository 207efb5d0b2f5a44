"""A component for spaCy pipelines: `nlp.add_pipe("partita")`.

The component adds the clusters of coreferent mentions to `doc.spans` and the whole result to
`doc._.partita`. spaCy is an optional dependency: `pip install partita[spacy]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.tokens import Doc, Span

from partita.app.run import ResolvedMessage, resolve_text
from partita.app.runner import Runner, Settings
from partita.text.raw_messages import RawMessage
from partita.text.spacy_docs import doc_annotation

DEFAULTS = {
    "domain": "general",
    "model": None,
    "parameters": None,
    "threshold": None,
    "top": None,
    "seed": 0,
    "spans_key": "coref_clusters",
    "singletons": False,
    "use_parse": True,
}


class Coreference:
    """A component that resolves the coreference of a Doc.

    Each cluster is a group `{spans_key}_1`, `{spans_key}_2`, … of `doc.spans`, in text order; the
    group's `attrs` hold its probability, name and type. A Doc with a dependency parse gives its
    noun chunks, entities and pronouns as mentions, unless `use_parse` is false.
    """

    def __init__(self, settings: Any, spans_key: str, singletons: bool, use_parse: bool) -> None:
        self.runner = Runner(settings).load()
        self.spans_key, self.singletons, self.use_parse = spans_key, singletons, use_parse

    def __call__(self, doc: Doc) -> Doc:
        """Add clusters and result to a Doc."""
        for key in [key for key in doc.spans if key.startswith(f"{self.spans_key}_")]:
            del doc.spans[key]
        if not doc.text.strip():
            return doc
        annotation = doc_annotation(doc) if self.use_parse else None
        raw = RawMessage("doc", doc.text, "", annotation=annotation)
        result = resolve_text(raw, self.runner)
        RESULTS[doc] = result
        for number, (attrs, spans) in enumerate(self._clusters(doc, result), 1):
            key = f"{self.spans_key}_{number}"
            doc.spans[key] = spans
            doc.spans[key].attrs.update(attrs)
        return doc

    def _clusters(
        self, doc: Doc, result: ResolvedMessage
    ) -> Iterator[tuple[dict[str, Any], list[Span]]]:
        """Yield what is known of each entity, and its mentions as spans of tokens."""
        places = {one.id: (one.start, one.end) for one in result.mentions}
        for entity in result.entities:
            if len(entity.templates) == 1 and not self.singletons:
                continue
            members = (places[name] for name in entity.templates)
            spans = [
                doc.char_span(start, end, label=entity.type, alignment_mode="expand")
                for start, end in sorted(members)
            ]
            yield (
                {
                    "entity": entity.id,
                    "name": entity.name,
                    "type": entity.type,
                    "probability": entity.probability,
                    "mentions": list(entity.templates),
                },
                [span for span in spans if span is not None],
            )


RESULTS: WeakKeyDictionary[Doc, ResolvedMessage] = WeakKeyDictionary()


def _result(doc: Doc) -> ResolvedMessage | None:
    return RESULTS.get(doc)


@Language.factory("partita", default_config=DEFAULTS, assigns=["doc.spans", "doc._.partita"])
def make_coreference(
    nlp: Language,
    name: str,
    domain: str,
    model: str | None,
    parameters: str | None,
    threshold: float | None,
    top: int | None,
    seed: int,
    spans_key: str,
    singletons: bool,
    use_parse: bool,
) -> Coreference:
    """Return the component; the settings are the options of `partita.run`."""
    if not Doc.has_extension("partita"):
        Doc.set_extension("partita", getter=_result)
    settings = Settings.of(domain, model, parameters, top=top, threshold=threshold, seed=seed)
    return Coreference(settings, spans_key, singletons, use_parse)
