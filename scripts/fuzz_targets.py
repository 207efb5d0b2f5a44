"""The targets of the fuzzer: every reader with valid files, and every body of the service."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from fuzz import MEMORY_DISK, Target

TEXT = """\
FROM: 3RD BRIGADE
SUBJECT: Kinston Rail Depot

1. A rail depot was found near Kinston. The depot is large, and it has two areas.

| Site    | Tanks |
| Kinston | 12    |

- The depot burns.
"""
CONLLU = """\
# newdoc id = GUM_news_a
# global.Entity = eid-etype-head-other
# sent_id = 1
1\tAnn\tAnn\tPROPN\tNNP\tNumber=Sing\t3\tnsubj\t_\tEntity=(e1-person-1
2\tSmith\tSmith\tPROPN\tNNP\tNumber=Sing\t1\tflat\t_\tEntity=e1)
3\tmet\tmeet\tVERB\tVBD\t_\t0\troot\t_\t_
4\tBob\tBob\tPROPN\tNNP\tNumber=Sing\t3\tobj\t_\tEntity=(e2-person-1)|SpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

1-2\tShe'd\t_\t_\t_\t_\t_\t_\t_\t_
1\tShe\tshe\tPRON\tPRP\tGender=Fem|Number=Sing\t3\tnsubj\t_\tEntity=(e1-person-1)
2\t'd\thave\tAUX\tVBD\t_\t3\taux\t_\t_
3\tleft\tleave\tVERB\tVBN\t_\t0\troot\t_\tSpaceAfter=No
3.1\tit\tit\tPRON\tPRP\t_\t_\t_\t3:obj\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""
CONLL2012 = """\
#begin document (nw/a/00); part 000
nw/a/00 0 0 Ann NNP (TOP(S(NP* - - - - * (0
nw/a/00 0 1 Smith NNP *) - - - - * 0)
nw/a/00 0 2 met VBD (VP* - - - - * -
nw/a/00 0 3 Bob NNP (NP*)) - - - - * (1)
nw/a/00 0 4 /. . *)) - - - - * -

#end document
"""
TEMPLATES = """\
0.  MESSAGE: ID                     DEV-MUC3-0901
1.  MESSAGE: TEMPLATE               1
2.  INCIDENT: DATE                  12 JAN 90
3.  INCIDENT: LOCATION              EL SALVADOR: SAN SALVADOR (CITY)
4.  INCIDENT: TYPE                  BOMBING
5.  INCIDENT: STAGE OF EXECUTION    ACCOMPLISHED
6.  INCIDENT: INSTRUMENT ID         "BOMB"
7.  INCIDENT: INSTRUMENT TYPE       BOMB: "BOMB"
9.  PERP: INDIVIDUAL ID             "THREE MEN" / "GUERRILLAS"
12. PHYS TGT: ID                    "BRIDGE"
13. PHYS TGT: TYPE                  TRANSPORT VEHICLE: "BRIDGE"
19. HUM TGT: DESCRIPTION            "MAYOR": "ANA PAZ"
20. HUM TGT: TYPE                   GOVERNMENT OFFICIAL: "ANA PAZ"
            ? CIVILIAN: "ANA PAZ"

0.  MESSAGE: ID                     DEV-MUC3-0902
1.  MESSAGE: TEMPLATE               *
"""
STORIES = """\
DEV-MUC3-0901 (NOSC)

     SAN SALVADOR, 12 JAN 90 -- [TEXT] THREE MEN BOMBED A BRIDGE NEAR THE CITY TODAY. THE
BRIDGE WAS DAMAGED.

     DEV-MUC3-0902 (NOSC)

     BOGOTA, 3 FEB 90 -- [TEXT] THE MAYOR SPOKE.
"""
PAIRS = """\
left,right,probability,set
A,B,.671,s
A,D,.505,s
B,D,.752,s
C,D,.504,s
E,F,1,t
F,G,.2,t
"""
SPLINK = (
    "unique_id_l,unique_id_r,match_probability,name_l,name_r\n1,2,0.98,Ann,Ann\n2,3,0.4,Ann,Bob\n"
)
CLAIMS = """\
object,slot,source,value,confidence,as_of
depot,city,a,Lima,0.9,1997-01-05
depot,city,b,Oslo,0.5,1997-01-06
depot,tanks,a,12,1,1997-01-05
depot,tanks,c,14,0.8,1997-01-07
bridge,city,b,Bonn,0.7,1997-01-06
bridge,city,c,Bonn,0.7,1997-01-06
"""
WIDE = """\
object,source,city,tanks
depot,a,Lima,12
depot,b,Oslo,12
bridge,a,Bonn,3
bridge,c,Bonn; Lima,3
"""
JUDGEMENTS = "left,right,source,same\nA,B,x,same\nB,C,x,different\nA,D,y,same\nA,C,y,different\n"
RECORDS = """\
id,first name,surname,born,city,phone
1,Ann,Smith,1970-03-02,Lima,555 1234
2,Anne,Smith,1970-03-02,Lima,5551234
3,Bob,Jones,1981-12-24,Oslo,
4,Rob,Jones,1981-12-24,Oslo,555-9876
"""
MENTIONS = (
    {"document": "input", "start": 0, "end": 3, "type": "PERSON", "id": "m1"},
    {"document": "input", "start": 14, "end": 17, "id": "m2"},
)
SPLINK_SETTINGS = {
    "link_type": "dedupe_only",
    "comparisons": [{
        "output_column_name": "name",
        "comparison_levels": [
            {"sql_condition": "name_l IS NULL OR name_r IS NULL", "is_null_level": True},
            {"sql_condition": "name_l = name_r", "m_probability": 0.9, "u_probability": 0.1},
            {"sql_condition": "ELSE", "m_probability": 0.1, "u_probability": 0.9}]}],
}  # fmt: skip
DOMAIN = {  # changed as JSON, which is YAML too
    "domain.yaml": """\
domain: toy
sorts:
  FACILITY:
  DEPOT: FACILITY
  PLACE:
slots:
  FACILITY: {type: sort, under: FACILITY}
  NUMBER: {type: number}
  LOCATION: {type: place}
  STATUS: {type: strings}
templates:
  FACILITY: {needs: [FACILITY]}
phases: [groups, toy]
""",
    "lexicon/words.yaml": """\
- sort: DEPOT
  tag: NN
  words: [depot, supply dump]
  says: {FACILITY: DEPOT}
- {sort: PLACE, tag: NN, words: [Kinston, New Bern]}
""",
    "rules/groups.yaml": """\
phase: groups
macros:
  NOUN: "[tag=NN|NNS]"
rules:
  - rule: noun group
    pattern: "det:[tag=DT]? mods:([tag=JJ] | NOUN){0,3} head:NOUN"
    build: {kind: ng, head: $head, sort: $head.sort, count: $mods.count}
""",
    "rules/toy.yaml": """\
phase: toy
starts: everywhere
rules:
  - rule: facility
    pattern: "what:[kind=ng, sort=FACILITY] ([word=in|at] where:[sort=PLACE])?"
    template: {about: $what, sort: $what.sort, slots: {LOCATION: $where}}
    examples: [a depot in Kinston]
""",
}


def lines(rows: Iterable[Any]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def all_of(read: Callable[[Path], Iterable[object]]) -> Callable[[Path], object]:
    """Read to the end; errors that a reader yields are raised."""

    def every(path: Path) -> None:
        for item in read(path):
            if isinstance(item, Exception):
                raise item

    return every


@cache
def targets() -> dict[str, Target]:
    """Return all targets by name."""
    return {target.name: target for group in GROUPS for target in GROUPS[group]()}


def _message_targets() -> list[Target]:
    from partita.app.runner import Runner, Settings, usual_budget
    from partita.corpora.documents import read_corefud
    from partita.corpora.keys import read_keys
    from partita.text.annotations import mention_source, with_mentions
    from partita.text.gazetteer import read_gazetteer
    from partita.text.messages import read_messages
    from partita.text.raw_messages import RawMessage
    from partita_incidents.exam_files import read_exam
    from research.tagger import read_tagged

    def mentions(path: Path) -> Iterable[object]:
        message = RawMessage("input", "Ann Smith met Bob .", "input.txt")
        return with_mentions(iter([message]), mention_source(path))

    def annotated(path: Path) -> None:
        list(mention_source(path).unused())  # no document belongs to a message

    def resolved(path: Path) -> None:
        settings = Settings("depots", "evidential", budget=usual_budget("evidential", work=100))
        for message in read_messages(path):
            if isinstance(message, Exception):
                raise message
            checked(message, Runner(settings).stages)

    report = "".join(_corpus_file("dev-001.txt").read_text("utf-8").splitlines(True)[:5])
    json_lines = lines([{"id": "a", "text": TEXT}, {"id": "b", "text": "It burns.", "to": "HQ"}])
    keys = _corpus_file("keys.jsonl").read_text("utf-8").splitlines()[:2]
    return [
        Target("messages", "lines", (TEXT, STORIES), all_of(read_messages), "input.txt"),
        Target("messages jsonl", "jsonl", (json_lines,), all_of(read_messages), "input.jsonl"),
        Target("text to entities", "lines", (TEXT, report), resolved, "input.txt"),
        Target("mentions jsonl", "jsonl", (lines(MENTIONS),), all_of(mentions), "input.jsonl"),
        Target("mentions conll", "lines", (CONLLU, CONLL2012), annotated, "input.conll"),
        Target("corefud", "lines", (CONLLU,), all_of(read_corefud), "input.conllu"),
        Target("tagged", "lines", (CONLLU,), all_of(read_tagged), "input.conllu"),
        Target("keys", "jsonl", ("\n".join(keys),), read_keys, "input.jsonl"),
        Target("muc templates", "lines", (TEMPLATES,), read_exam, "input.key"),
        Target("gazetteer", "lines", ("PERU: LIMA (CITY): CALLAO (PORT)\nCHILE: ARICA (TOWN)\n",),
               read_gazetteer, "input.txt"),
        *(_domain_target(name) for name in DOMAIN),
    ]  # fmt: skip


def checked(message: Any, stages: Any) -> None:
    """Resolve a message and check the offsets of its templates and the sums of its values."""
    from partita.pipeline import resolve

    resolved = resolve(message, stages)
    for template in resolved.templates:
        assert 0 <= template.start < template.end <= len(message.text)
        assert template.text == " ".join(message.text[template.start : template.end].split())
    for entity in resolved.entities:
        for values in entity.slots.values():
            assert abs(sum(value.probability for value in values) - 1.0) < 1e-9


def _corpus_file(name: str) -> Path:
    from partita.corpora.documents import corpus_path

    return corpus_path() / name


def _domain_target(changed: str) -> Target:
    from partita.rules.domain_files import read_domain

    def read(path: Path) -> None:
        folder = path.parent / "toy"
        for name, text in DOMAIN.items():
            file = folder / name
            if name == changed:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(path.read_bytes())
            elif not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        read_domain(folder)

    seed = json.dumps(yaml.safe_load(DOMAIN[changed]))
    return Target(f"domain {changed}", "json", (seed,), read, "input.yaml")


def _pair_targets() -> list[Target]:
    import partita
    from partita.app.solve import read_sets
    from partita.linkage.clusters import read_clusters, read_template_list
    from partita.linkage.clusters import read_record_ids as read_ids
    from partita.linkage.increments import read_previous
    from partita.linkage.labels import read_labels
    from partita.linkage.record_tables import read_records
    from partita.linkage.splink_engine import is_trained, read_settings
    from partita.results.saved_results import read_results

    pairs = [dict(zip(("left", "right", "probability"), row, strict=True))
             for row in (("A", "B", 0.671), ("B", "C", 0.3), ("D", "E", 1))]  # fmt: skip
    templates = [{"id": "A", "text": "the depot", "slots": {"TYPE": "rail"}, "sentence": 2},
                 {"id": "B", "form": "definite", "number": "plural"}]  # fmt: skip
    previous = [{"record": record, "cluster": "1", "membership": 0.9, "exact": 0.8}
                for record in "AB"]  # fmt: skip
    results = partita.run(TEXT, domain="depots").to_jsonl()
    return [
        Target("pairs csv", "csv", (PAIRS, SPLINK), read_sets, "input.csv"),
        Target("pairs jsonl", "jsonl", (lines(pairs),), read_sets, "input.jsonl"),
        Target("templates", "jsonl", (lines(templates),), read_template_list, "input.jsonl"),
        Target("record ids", "csv", (RECORDS,), read_ids, "input.csv"),
        Target("records", "csv", (RECORDS,), lambda path: read_records([path]), "input.csv"),
        Target("clusters", "csv", ("message,id,cluster\nm,A,1\nm,B,1\nn,C,2\n",), read_clusters,
               "input.csv"),
        Target("previous clusters", "jsonl", (lines(previous),), read_previous, "input.jsonl"),
        Target("labels", "csv", ("left,right,same\n1,2,1\n2,3,0\n", "id,cluster\n1,x\n2,x\n3,y\n"),
               read_labels, "input.csv"),
        Target("splink settings", "json", (json.dumps(SPLINK_SETTINGS),),
               lambda path: is_trained(read_settings(path)), "input.json"),
        Target("results", "jsonl", (results,), all_of(read_results), "input.jsonl"),
    ]  # fmt: skip


def _fusion_targets() -> list[Target]:
    from partita.fusion.claim_files import read_claims
    from partita.fusion.record_files import Slots, judgement_records, table_records
    from partita.fusion.sources import (
        read_nesting,
        read_objects,
        read_reliabilities,
        read_truths,
    )
    from partita.rules.domain_files import read_domain

    slots = Slots(read_domain("depots").schema, ("FACILITY", "UNIT", "EQUIPMENT"))
    records = "id,FACILITY,LOCATION,NUMBER\n1,DEPOT,TARBORO,1\n2,DEPOT,KINSTON,2\n"
    nesting = "id,name,parentID\n1,World,\n2,Peru,1\n3,Lima,2\n4,Oslo,1\n"
    claims = lines(
        {"object": "depot", "slot": "city", "source": source, "value": value, "confidence": 0.5}
        for source, value in (("a", "Lima"), ("b", "Lima"), ("c", "Oslo"))
    )
    return [
        Target("claims csv", "csv", (CLAIMS, WIDE), read_claims, "input.csv"),
        Target("claims jsonl", "jsonl", (claims,), read_claims, "input.jsonl"),
        Target("judgements", "csv", (JUDGEMENTS,), judgement_records, "input.csv"),
        Target("record accounts", "csv", (records,), lambda path: table_records(path, slots),
               "input.csv"),
        Target("truths", "csv", ("object,slot,value\ndepot,city,Lima\nbridge,city,Bonn\n",),
               lambda path: read_truths(path, ["city"]), "input.csv"),
        Target("reliabilities", "csv", ("source,reliability\na,.9\nb,0.5\n",), read_reliabilities,
               "input.csv"),
        Target("hierarchy", "csv", (nesting, "name,parent\nLima,Peru\nPeru,\n"), read_nesting,
               "input.csv"),
        Target("objects", "csv", ("object\ndepot\nbridge\n",), read_objects, "input.csv"),
    ]  # fmt: skip


def _model_targets() -> list[Target]:
    from partita.errors import InputError
    from partita.parameters import shipped_text
    from partita.training.parameter_files import model_parameters, read_pair_parameters
    from partita_incidents.incident_models import read_models

    def parameters(path: Path) -> None:
        for model in ("scaled", "greedy"):
            with suppress(InputError):  # of another model, or damaged
                model_parameters(model, path)
                return
        model_parameters("forest", path)

    shipped = [shipped_text(name) or "" for name in ("scaled", "greedy", "forest")]
    pairs = json.loads(shipped_text("pairs") or "")
    return [
        Target("set parameters", "json", shipped, parameters, "input.json"),
        Target("pair parameters", "json", (json.dumps(_small_pair_parameters(pairs)),),
               read_pair_parameters, "input.json"),
        Target("incident models", "json", (_small_incident_models(),), read_models, "input.json"),
    ]  # fmt: skip


def _small_pair_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters of the first five characteristics."""
    first = parameters["characteristics"][:5]
    models = {
        name: model | {"weights": {feature: weight for feature, weight in model["weights"].items()
                                   if feature.partition(":")[0] in first}}
        for name, model in parameters.items() if name in ("every pair", "merging questions")
    }  # fmt: skip
    return parameters | {"characteristics": first} | models


def _small_incident_models() -> str:
    """Return the shipped models of incidents with few features or trees of each classifier."""
    from partita_incidents.domain import domain

    models = json.loads(domain.parameter_text)
    models["pairs"] = _small_pair_parameters(models["pairs"])
    for group in ("readers", "screeners", "judges"):
        for classifier in models[group].values():
            if "features" in classifier:
                classifier["features"] = dict(list(classifier["features"].items())[:3])
                continue
            classifier["borders"] = [border[:1] for border in classifier["borders"]]
            for part in ("tested", "cuts", "values"):
                classifier[part] = classifier[part][:3]
    return json.dumps(models)


def _service_targets() -> list[Target]:
    """Return the bodies as the worker processes of the service get them."""
    from partita.web.error_responses import request_error
    from partita.web.worker import Calls

    store, ids = _small_store()
    computing = _FreshStore(store, Calls, 200)
    storing = _FreshStore(store, Calls, 50)
    cities = "".join(line for line in CLAIMS.splitlines(keepends=True) if "tanks" not in line)
    fuse = (
        {"sources": [{"name": name, "content": content}],
         "reliabilities": dict.fromkeys(sources, 0.9), "top": 5}
        for name, content, sources in (
            ("a.csv", cities, "abc"),  # without reliabilities each input takes twice as long
            ("b.csv", JUDGEMENTS, "xy"),
        )
    )  # fmt: skip
    pairs = [["A", "B", 0.671], ["A", "C", 0.0], ["B", "C", 0.3], ["A", "D", 0.505]]
    cells = [[template] for template in ids]
    key = {"cells": [ids], "author": "ann", "based_on": None,
           "alternatives": [{"cells": cells, "weight": 0.5}]}  # fmt: skip
    text = {"text": "A depot was found. The depot is empty.", "domain": "depots"}
    general = {"text": "Acme bought Borealis. It paid in cash.", "domain": "general"}

    def body(name: str, calls: Any, *values: Any, **arguments: Any) -> Target:
        def read(path: Path) -> object:
            with temporary_folder(path.parent):
                return calls.run(name, arguments, path.read_bytes())

        def own(error: Exception) -> bool:
            return request_error(error).status < 500  # an unexpected error is 500

        return Target(
            f"service {name}", "json", tuple(map(json.dumps, values)), read, "input.json", own
        )

    return [
        body("solve", computing, {"pairs": pairs, "model": "evidential", "top": 10}, seconds=5.0),
        body("resolve", computing, text, general),
        body("fuse", computing, *fuse),
        body("ingest", computing, {"id": "new", "text": text["text"]}, run="demo"),
        body("key", storing, key, run="demo", set="first.1"),
    ]


@contextmanager
def temporary_folder(folder: Path) -> Iterator[None]:
    """Make temporary files in a folder, which is quicker than a disk."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


class _FreshStore:
    """Calls with a copy of a store, made anew after so many inputs.

    In a store that grows they would take longer and longer.
    """

    def __init__(self, store: str, make: Callable[[str], Any], most: int) -> None:
        self._store, self._make, self._most, self._inputs = store, make, most, 0

    def run(self, name: str, arguments: dict[str, Any], body: bytes) -> object:
        if self._inputs % self._most == 0:
            if self._inputs:
                self._close()
            self._folder = tempfile.mkdtemp(dir=Path(self._store).parent)
            self._calls = self._make(shutil.copy(self._store, self._folder))
        self._inputs += 1
        return self._calls.run(name, arguments, body)

    def _close(self) -> None:
        if "_workspace" in vars(self._calls):
            self._calls._workspace.close()
        shutil.rmtree(self._folder)


def _small_store() -> tuple[str, list[str]]:
    """Return a store with one set, gone with this process, and the templates of the set."""
    import atexit

    from partita.app.runner import Settings, usual_budget
    from partita.app.workspace import open_workspace
    from partita.text.raw_messages import RawMessage

    folder = tempfile.mkdtemp(dir=MEMORY_DISK if MEMORY_DISK.is_dir() else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    workspace = open_workspace(f"{folder}/fuzz.db")
    message = RawMessage(
        "first", "A depot was found. The depot is large. The depot burns.", "first"
    )
    settings = Settings("depots", "evidential", budget=usual_budget("evidential"))
    workspace.ingest([message], settings, name="demo", workers=1)
    ids = [template["id"] for template in workspace.set("demo", "first.1")["templates"]]
    workspace.close()
    return f"{folder}/fuzz.db", ids


GROUPS: dict[str, Callable[[], list[Target]]] = {
    "messages": _message_targets,
    "pairs": _pair_targets,
    "fusion": _fusion_targets,
    "models": _model_targets,
    "service": _service_targets,
}
