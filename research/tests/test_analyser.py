"""Learning trees and mentions: the oracle of transitions, a toy language, the same bytes."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.text.analysis import analyser_bytes
from partita.text.conllu import PlacedDocument, placed_documents
from research.analyser import (
    AnalyserSettings,
    MentionSettings,
    ParserSettings,
    fold_models,
    inventory,
    out_of_fold,
    train_analyser,
    with_fold_mentions,
)
from research.analysis_figures import measure_analysis
from research.tagger import TaggerSettings

SMALL = AnalyserSettings(
    TaggerSettings(bits=14, runs=1),
    TaggerSettings(bits=14, runs=1),
    ParserSettings(bits=14, label_bits=14, least=1),
    ParserSettings(bits=14, label_bits=14, least=1, runs=1),
    MentionSettings(bits=14, least_times=1),
)


@st.composite
def projective_trees(draw: st.DrawFn) -> list[int]:
    """Heads of the words of a projective tree, -1 for the root."""

    def fill(first: int, last: int, head: int, heads: list[int]) -> None:
        if first > last:
            return
        top = draw(st.integers(first, last))
        heads[top] = head
        for low, high in ((first, top - 1), (top + 1, last)):
            parts = draw(st.integers(low, high + 1)) if low <= high else low
            fill(low, parts - 1, top, heads)
            fill(parts, high, top, heads)

    size = draw(st.integers(1, 7))
    heads = [-1] * size
    fill(0, size - 1, -1, heads)
    return heads


def moves_from(gold: list[int], stack: list[int], ahead: int) -> list[int]:
    from research.analyser_kernels import zero_cost

    size = len(gold)
    heads = np.array([-1, *(head + 1 if head >= 0 else size + 1 for head in gold), -1])
    right = np.zeros(64, dtype=np.bool_)
    zero_cost(heads, np.array([*stack, 0]), len(stack), ahead, size + 1, right)
    return [move for move in range(3) if right[move]]


def step(
    stack: tuple[int, ...], ahead: int, move: int
) -> tuple[tuple[int, ...], int, tuple[int, int] | None]:
    """Take a transition of the arc-hybrid system, in plain Python."""
    if move == 0:
        return (*stack, ahead), ahead + 1, None
    head = ahead if move == 1 else stack[-2]
    return stack[:-1], ahead, (stack[-1], head)


@given(projective_trees(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_right_transitions_give_the_tree(gold: list[int], chance: object) -> None:
    stack: tuple[int, ...] = ()
    ahead, root = 1, len(gold) + 1
    heads = {}
    while ahead < root or stack:
        moves = moves_from(gold, list(stack), ahead) if stack else [0]
        stack, ahead, arc = step(stack, ahead, chance.choice(moves))  # type: ignore[attr-defined]
        if arc:
            heads[arc[0]] = arc[1]
    assert [heads[n] - 1 if heads[n] < root else -1 for n in range(1, root)] == gold


@given(projective_trees(), st.lists(st.integers(0, 2), max_size=12))
@settings(max_examples=150, deadline=None)
def test_after_errors_the_oracle_loses_no_further_arc(gold: list[int], errors: list[int]) -> None:
    root = len(gold) + 1
    right = {n + 1: (head + 1 if head >= 0 else root) for n, head in enumerate(gold)}

    @cache
    def most(stack: tuple[int, ...], ahead: int) -> int:
        """Count the right arcs still possible, by trying everything."""
        if not stack and ahead == root:
            return 0
        best = -1
        for move in possible(stack, ahead):
            after, following, arc = step(stack, ahead, move)
            rest = most(after, following)
            best = max(best, rest + (arc is not None and right[arc[0]] == arc[1]))
        return best

    def possible(stack: tuple[int, ...], ahead: int) -> list[int]:
        moves = [0] if ahead < root else []
        if stack and (ahead < root or len(stack) == 1):
            moves.append(1)
        return [*moves, 2] if len(stack) > 1 else moves

    stack: tuple[int, ...] = ()
    ahead = 1
    for error in errors:
        moves = possible(stack, ahead)
        if moves:
            stack, ahead, _ = step(stack, ahead, moves[error % len(moves)])
    if stack:
        for move in moves_from(gold, list(stack), ahead):
            after, following, arc = step(stack, ahead, move)
            gained = arc is not None and right[arc[0]] == arc[1]
            assert most(after, following) + gained == most(stack, ahead)


NAMES = ("Ana", "Bob", "Cleo", "Dan", "Eve", "Fred")
VERBS = ("sees", "knows", "likes")
THINGS = ("book", "dog", "tree")


def toy(count: int) -> list[PlacedDocument]:
    """Documents of sentences such as "Ana likes the dog ." with their mentions."""
    rng = np.random.default_rng(3)
    lines: list[str] = []
    for number in range(count):
        lines += [f"# newdoc id = d{number}", "# global.Entity = GRP-etype"]
        for _ in range(4):
            name, verb, thing = (str(rng.choice(each)) for each in (NAMES, VERBS, THINGS))
            entity_type = "animal" if thing == "dog" else "object"
            lines += [
                f"1\t{name}\t{name}\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\tEntity=(1-person)",
                f"2\t{verb}\t{verb[:-1]}\tVERB\tVBZ\t_\t0\troot\t_\t_",
                f"3\tthe\tthe\tDET\tDT\tPronType=Art\t4\tdet\t_\tEntity=(2-{entity_type}",
                f"4\t{thing}\t{thing}\tNOUN\tNN\tNumber=Sing\t2\tobj\t_\tEntity=2)",
                "5\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_",
                "",
            ]
    return list(placed_documents(list(enumerate(lines, 1)), "toy", "toy"))


def test_a_toy_language_is_learned_to_the_same_bytes() -> None:
    documents = toy(12)
    first, second = (train_analyser(documents, 0, SMALL, folds=3) for _ in range(2))
    assert analyser_bytes(first) == analyser_bytes(second)
    figures = measure_analysis(first, toy(12)[:3])
    assert figures.token_f1 == figures.sentence_f1 == 1
    assert figures.head_accuracy == figures.label_accuracy == 1
    assert figures.mention_head_f1 == figures.mention_span_f1 == figures.type_accuracy == 1


def test_every_document_is_analysed_out_of_fold() -> None:
    documents = toy(6)
    names = inventory(documents)
    models = fold_models(documents, names, 2, 0, SMALL)
    pairs = list(out_of_fold(with_fold_mentions(models, names, 0, SMALL)[0]))
    assert sorted(document.name for document, _ in pairs) == [f"d{n}" for n in range(6)]
    for document, sentences in pairs:
        assert [text for s in sentences for text in (document.text[a:b] for a, b in s.spans)]
