"""Entities of other systems: in, resolved, out, and nothing lost."""

import json

import numpy as np
import pytest

from partita.app.build import build
from partita.errors import InputError

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

UNITS = {
    "u1": ("d1", "Sherlock Holmes lives in Baker Street with Dr. Watson. Holmes plays the violin."),
    "u2": ("d2", "In Baker Street Holmes told Watson of the violin that he had bought."),
    "u3": ("d3", "Katie Holmes, the actress, opened a film festival in Ohio."),
}
ENTITIES = [
    ("e1", "SHERLOCK HOLMES", "PERSON", "a detective of Baker Street", ["u1"]),
    ("e2", "HOLMES", "PERSON", "plays the violin in Baker Street", ["u2"]),
    ("e3", "KATIE HOLMES", "PERSON", "an actress", ["u3"]),
    ("e4", "WATSON", "PERSON", "a doctor, friend of Holmes", ["u1", "u2"]),
    ("e5", "BAKER STREET", "GEO", "a street in London", ["u1", "u2"]),
]
RELATIONS = [
    ("r1", "SHERLOCK HOLMES", "WATSON", "friend of", 2.0, ["u1"]),
    ("r2", "HOLMES", "BAKER STREET", "lives in", 1.0, ["u2"]),
]


@pytest.fixture
def graphrag(tmp_path):
    folder = tmp_path / "output"
    folder.mkdir()
    pandas.DataFrame(
        [(key, text, [home]) for key, (home, text) in UNITS.items()],
        columns=["id", "text", "document_ids"],
    ).to_parquet(folder / "text_units.parquet")
    names = ["id", "title", "type", "description", "text_unit_ids"]
    pandas.DataFrame(ENTITIES, columns=names).to_parquet(folder / "entities.parquet")
    names = ["id", "source", "target", "description", "weight", "text_unit_ids"]
    pandas.DataFrame(RELATIONS, columns=names).to_parquet(folder / "relationships.parquet")
    return folder


def test_graphrag_in_and_out(graphrag, tmp_path):
    kb = build(graphrag, system="graphrag", out=tmp_path / "KB")
    kb.export("graphrag", tmp_path / "back")
    ids = pandas.read_csv(tmp_path / "back" / "resolved.csv")
    assert {*ids.entity_id} == {one[0] for one in ENTITIES}
    home = ids.groupby("entity_id").resolved_id.agg(set)
    assert home["e3"].isdisjoint(home["e1"])
    entities = pandas.read_parquet(tmp_path / "back" / "entities.parquet")
    assert {*ids.resolved_id} == {*entities.id}
    assert entities.title.is_unique
    relations = pandas.read_parquet(tmp_path / "back" / "relationships.parquet")
    assert {*relations.source, *relations.target} <= {*entities.title}
    assert {one for row in relations.source_ids for one in row} == {"r1", "r2"}
    again = build(tmp_path / "back", system="graphrag")  # what it wrote, it reads
    assert len(again.knowledge.members) <= len(again.knowledge.records)


def test_equal_titles_are_divided_by_their_texts(tmp_path):
    """One node that a system made of two people has a record in each document."""
    folder = tmp_path / "output"
    folder.mkdir()
    units = [(key, text, [home]) for key, (home, text) in UNITS.items()]
    names = ["id", "text", "document_ids"]
    pandas.DataFrame(units, columns=names).to_parquet(folder / "text_units.parquet")
    names = ["id", "title", "type", "description", "text_unit_ids"]
    rows = [("e1", "HOLMES", "PERSON", "", ["u1", "u2", "u3"])]
    pandas.DataFrame(rows, columns=names).to_parquet(folder / "entities.parquet")
    kb = build(folder, system="graphrag")
    assert len(kb.knowledge.records) == 3
    home = {one.document: np.array([n]) for n, one in enumerate(kb.knowledge.records)}
    p = kb.knowledge.resolution.pair_probabilities
    assert p(home["d1"], home["d2"])[0] > p(home["d1"], home["d3"])[0]


def test_neo4j_in_and_out(tmp_path):
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "rels.csv"
    nodes.write_text(
        "personId:ID(P),name,description,:LABEL\n1,Ada Okafor,minister of energy,Person\n"
        "2,Minister Ada Okafor,minister of energy,Person\n3,Kinston,a town,Place;Town\n",
        "utf-8",
    )
    edges.write_text(":START_ID(P),:END_ID(P),:TYPE\n1,3,VISITED\n2,3,VISITED\n", "utf-8")
    kb = build([nodes, edges], system="neo4j", out=tmp_path / "KB")
    assert {x for one in kb.knowledge.records for x in one.source_ids} == {"1", "2", "3"}
    kb.export("neo4j", tmp_path / "back")
    back = pandas.read_csv(tmp_path / "back" / "nodes.csv")
    ids = {x for row in back["sourceIds:string[]"].astype(str) for x in row.split(";")}
    assert ids == {"1", "2", "3"}
    relations = pandas.read_csv(tmp_path / "back" / "relations.csv")
    assert {*relations[":START_ID"], *relations[":END_ID"]} <= {*back["entityId:ID"]}
    again = build([tmp_path / "back" / "nodes.csv", tmp_path / "back" / "relations.csv"],
                  system="neo4j")  # fmt: skip
    assert len(again.knowledge.records) == len(back)


def test_lightrag_in(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for key, _, kind, text, units in ENTITIES:
        graph.add_node(key, entity_id=key, entity_type=kind, description=text,
                       source_id="<SEP>".join(units))  # fmt: skip
    graph.add_edge("e1", "e4", weight=2.0, description="friend of", source_id="u1")
    networkx.write_graphml(graph, tmp_path / "graph_chunk_entity_relation.graphml")
    chunks = {key: {"content": text, "full_doc_id": home} for key, (home, text) in UNITS.items()}
    (tmp_path / "kv_store_text_chunks.json").write_text(json.dumps(chunks), "utf-8")
    kb = build(tmp_path, system="lightrag")
    assert {x for one in kb.knowledge.records for x in one.source_ids} == {x[0] for x in ENTITIES}
    assert len(kb.knowledge.relations) == 1


@pytest.mark.parametrize("form", ["jsonld", "ftm", "graphml", "html"])
def test_other_forms_have_every_entity(graphrag, tmp_path, form):
    kb = build(graphrag, system="graphrag")
    kb.export(form, tmp_path / "back")
    (file,) = [one for one in (tmp_path / "back").iterdir() if one.name != "resolved.csv"]
    text, names = file.read_text("utf-8"), {*kb.knowledge.members}
    if form == "graphml":
        networkx = pytest.importorskip("networkx")
        graph = networkx.read_graphml(file)
        assert {*graph.nodes} == names
        assert graph.number_of_edges() == len(kb.knowledge.relations)
    elif form == "jsonld":
        found = json.loads(text)["@graph"]
        assert {one["@id"][1:] for one in found} == names
        ids = {x for one in found for record in one["records"] for x in record["identifier"]}
        assert ids == {one[0] for one in ENTITIES}
    elif form == "ftm":
        found = [json.loads(line) for line in text.splitlines()]
        assert {one["id"] for one in found if one["schema"] != "UnknownLink"} == names
    else:
        assert all(f'id="{name}"' in text for name in names)
        assert "<script src" not in text


def test_entities_of_a_table(tmp_path):
    rows = [{"id": "x", "name": "Ada Okafor", "type": "person", "document": "one"},
            {"id": "y", "name": "Okafor", "type": "person", "document": "two"}]  # fmt: skip
    links = [{"source": "x", "target": "y", "type": "knows"}]
    kb = build(entities=rows, relations=links)
    assert len(kb.knowledge.records) == 2
    assert kb.to_pandas("relations").relation.tolist() == ["knows"]


@pytest.mark.parametrize(
    ("rows", "links", "problem"),
    [
        ([{"id": "x"}], None, "no column name"),
        ([{"id": "x", "name": ""}], None, "no name"),
        ([{"id": "x", "name": "A"}, {"id": "x", "name": "B"}], None, "again"),
        ([{"id": "x", "name": "A"}], [{"source": "x", "target": "z"}], "names z"),
        ([{"id": "x", "name": "A"}], [{"left": "x", "right": "x"}], "no columns"),
        ([{"id": "x", "name": "A"}], [{"source": "x", "target": "x", "weight": "much"}], "weight"),
    ],
)
def test_bad_tables_get_one_clear_line(rows, links, problem):
    with pytest.raises(InputError, match=problem) as caught:
        build(entities=rows, relations=links)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("system", ["graphrag", "lightrag", "neo4j"])
def test_a_folder_of_something_else_is_refused(tmp_path, system):
    with pytest.raises(InputError) as caught:
        build(tmp_path, system=system)
    assert "\n" not in str(caught.value)


def test_broken_files_of_lightrag(tmp_path):
    (tmp_path / "graph_chunk_entity_relation.graphml").write_text("<graphml><node", "utf-8")
    with pytest.raises(InputError, match="GraphML"):
        build(tmp_path, system="lightrag")
    (tmp_path / "kv_store_text_chunks.json").write_text("[1]", "utf-8")
    with pytest.raises(InputError, match="chunks"):
        build(tmp_path, system="lightrag")


def test_a_shared_family_name_does_not_join_two_people():
    said = "the minister of transport who resigned over the tunnel of Larkhaven"
    other = "an analyst who follows builders of the tunnel of Larkhaven"
    people = [("HELENA BRANDT", said), ("BRANDT", said), ("MINISTER BRANDT", said),
              ("MARY BRANDT", other)]  # fmt: skip
    rows = [{"id": n, "name": name, "type": "person", "description": text, "document": f"d{n}"}
            for n, (name, text) in enumerate(people)]  # fmt: skip
    kb = build(entities=rows).knowledge
    home = {one.source_ids[0]: kb.entity[n] for n, one in enumerate(kb.records)}
    assert home["0"] != home["3"]
    assert kb.name_of(home["0"]) == "Helena Brandt"
    assert "Minister Brandt" in kb.table("names")["name"]  # nothing is lost
