"""A small domain on disk, and tagged sentences without a tagger."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from partita.core import Region
from partita.rules.cascade import Analysis, Cascade, Observer
from partita.rules.domain_files import read_domain

DOMAIN = """
domain: toy
sorts:
  FACILITY:
  DEPOT: FACILITY
  PLACE:
  ORGANISATION:
  KIND:
slots:
  FACILITY: {type: sort, under: FACILITY}
  NUMBER: {type: number}
  LOCATION: {type: place}
  TYPE: {type: string}
  STATUS: {type: strings}
templates:
  FACILITY: {needs: [FACILITY]}
phases: [groups, toy]
"""
LEXICON = """
- sort: DEPOT
  tag: NN
  words: [depot, supply dump, "ammo dump"]
  says: {FACILITY: DEPOT}
- sort: KIND
  tag: [JJ, NN]
  words: {rail: , railway: rail, ammo: ammunition}
  says: {TYPE: $word}
- {sort: PLACE, tag: NN, words: [Kinston, New Bern]}
- {sort: ORGANISATION, tag: NN, words: [army]}
"""
GROUPS = """
phase: groups
macros:
  NOUN: "[tag=NN|NNS|NNP|NNPS]"
rules:
  - rule: noun group
    pattern: "det:[tag=DT]? mods:([tag=JJ] | [tag=CD] | NOUN)* head:NOUN"
    build:
      kind: ng
      head: $head
      lemma: $head.lemma
      sort: $head.sort
      det: lower($det)
      mods: $mods.all.text
      count: $mods.count
  - rule: passive
    pattern: "[lemma=be] main:[tag=VBN]"
    build: {kind: vg, lemma: $main.lemma, voice: passive, form: finite}
  - rule: past
    pattern: "main:[tag=VBD|VBN]"
    build: {kind: vg, lemma: $main.lemma, voice: either, form: participle}
  - rule: to
    pattern: '"to" main:[tag=VB]'
    build: {kind: vg, lemma: $main.lemma, voice: active, form: infinitive}
"""
RULES = """
phase: toy
starts: everywhere
rules:
  - rule: depot in a place
    pattern: "what:[kind=ng, sort=FACILITY] [word=in|at|near] where:[sort=PLACE]"
    template: {about: $what, slots: {LOCATION: $where}}
  - rule: facility
    pattern: "what:[kind=ng, sort=FACILITY]"
    template: {about: $what, sort: $what.sort, says: $what.all.says}
  - clause: construction
    subject: "[kind=ng, sort=ORGANISATION]"
    verb: [build, construct, erect]
    object: "[kind=ng, sort=FACILITY]"
    with: {in|at: "[sort=PLACE]"}
    nominal: [construction, building]
    template: {about: $object, slots: {STATUS: UNDER CONSTRUCTION, LOCATION: $in}}
"""


def written(
    folder: Path,
    domain: str = DOMAIN,
    lexicon: str = LEXICON,
    groups: str = GROUPS,
    rules: str = RULES,
) -> Path:
    """The files of a domain, in a folder that is its name."""
    made = folder / "toy"
    for name, text in (
        ("domain.yaml", domain),
        ("lexicon/words.yaml", lexicon),
        ("rules/groups.yaml", groups),
        ("rules/toy.yaml", rules),
    ):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    return made


def cascade(folder: Path, **files: str) -> Cascade:
    return Cascade(read_domain(written(folder, **files)))


@dataclass
class Cut:
    texts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    region: list[int] = field(default_factory=list)
    ends_of_sentences: list[int] = field(default_factory=list)


def tagged(text: str) -> tuple[Cut, list[str]]:
    """Words with tags, `A/DT depot/NN | It/PRP`; _ joins a word to the one before."""
    cut, tags, at = Cut(), [], 0
    for sentence in text.split(" | "):
        for one in sentence.split():
            word, _, tag = one.lstrip("_").rpartition("/")
            at -= one.startswith("_")
            cut.texts.append(word)
            cut.starts.append(at)
            cut.ends.append(at + len(word))
            cut.region.append(0)
            tags.append(tag)
            at += len(word) + 1
        cut.ends_of_sentences.append(len(cut.texts))
    return cut, tags


TEXT = (Region("text", 0, 1 << 30),)


def run(made: Cascade, text: str, observer: Observer | None = None) -> Analysis:
    return made.run(*tagged(text), TEXT, observer)
