"""Codes of the characteristics that the joint model observes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.core import IntArray
from partita.text.words import CLASSES

# How an expression refers: pronouns first, so that kind <= LAST_PRONOUN asks for a pronoun.
KINDS = (
    "i", "we", "you", "he", "she", "it", "they", "demonstrative", "indefinite pronoun", "question",
    "other pronoun", "name", "plural name", "the", "plural the", "this", "possessed", "a",
    "other determiner", "bare", "plural bare", "deictic", "numeral",
)  # fmt: skip
ME, WE, YOU, HE, SHE, IT, THEY, DEMONSTRATIVE = range(8)
LAST_PRONOUN = KINDS.index("other pronoun")
# Kinds that mostly behave alike, as the group of each kind.
GROUPS = (0, 1, 2, 3, 3, 4, 5, 6, 7, 7, 7, 8, 8, 9, 9, 10, 11, 12, 12, 13, 13, 14, 14)
GROUP_COUNT = 15

TYPES = (
    "", "person", "place", "organization", "object", "event", "time", "substance", "animal",
    "plant", "abstract",
)  # fmt: skip
ROLES = ("other", "subject", "object", "oblique", "possessive", "apposition")
OTHER_ROLE, SUBJECT, OBJECT, OBLIQUE, POSSESSIVE = range(5)
DETERMINERS = (
    "", "the", "a", "an", "this", "that", "these", "those", "some", "any", "all", "each", "every",
    "no", "another", "both", "what", "which", "possessor",
)  # fmt: skip
POINTING = ("", "this", "that", "these", "those")
# As bits, since a cell may hold several: of words; by the first of several names, of which 99 % are
# right; by a name that is alone, and may be a surname, of which 90 % are.
MASCULINE, FEMININE, NEUTER, MALE_NAME, FEMALE_NAME, MALE_ALONE, FEMALE_ALONE = (
    1 << bit for bit in range(7)
)
GENDERS = 8  # of a mention: unknown, or one of these
SINGULAR, PLURAL = 1, 2

(
    KIND, TYPE, NUMBER, GENDER, ROLE, SENTENCE, PARAGRAPH, PARENT, OWNER, HEAD, LEXEME_ID,
    FLAGS, LENGTH, MODIFIERS, DETERMINER, POINTER, START, END, HEAD_COUNT, COMPLEMENT,
    CERTAINTY, PRESENCE, RARITY, NOUN_CLASS, PARTS, WORD, GOVERNOR, QUOTE, QUESTION, TURN,
    HEAD_AT, GOVERNOR_AT, SUBJECT_AT, FRONTED, CLAUSE, CLAUSE_ABOVE, CLAUSE_ABOVE_THAT,
    FULL_NAME,
) = range(38)  # fmt: skip
ATTRIBUTES = 38
PARTITIVE, COORDINATED = 1, 2  # bits of PARTS
SCALE, LIMIT = 4096, 8  # weights of the table are multiples of 1 / SCALE, smaller than LIMIT
SLOPE = 0.1  # of a hidden unit below 0
UNIT = 1000  # probabilities of types are whole numbers of thousandths

(
    SAME_TEXT, SAME_HEAD, ALL_OF_LATER, ALL_OF_EARLIER, SHARED_WORD, SAME_STEM, ACRONYM,
    SHARED_NAME, PART_OF_NAME, NESTED, APPOSED, PREDICATED, HEAD_INSIDE, SIBLINGS, OTHER_NUMERAL,
    DENIED, OTHER_FULL_NAME, OTHER_HALF_NAME, OTHER_NAME, BESIDE,
) = (1 << bit for bit in range(20))  # fmt: skip
# Before the last: names without a common word, both with a given name first, one of them, none.
OTHER_NAMES = 16
# Above the bits: how the modifiers compare. None; only the earlier, only the later has some; the
# same; some in common; others.
MODIFIED = 20
(
    NO_MODIFIERS,
    EARLIER_MODIFIED,
    LATER_MODIFIED,
    SAME_MODIFIERS,
    COMMON_MODIFIERS,
    OTHER_MODIFIERS,
) = range(6)
# Above those: how rare the rarest common word is, and how similar the expressions are.
SHARED_RARITY, PHRASE = 23, 26
# Above those, a bit for where the earlier one stands in the same sentence, the most telling first:
# subject of the clause in which the later one is a possessor, or is deeper than an argument;
# subject of a clause above; before its subject, which is the later one; in a clause that belongs to
# the later one's and precedes it; elsewhere in its clause; in one above; in one below; elsewhere.
# Then what excludes most pairs: subject near before the verb that "him" follows, subject beside
# another object, two arguments without a subject, subject beside an oblique ("she took it with
# her"), possessor and possessed. Then where it stands in the sentence before: main subject,
# subject, object, elsewhere. The last bit: the two are known to differ.
PATH = 29
(
    OWNED_BY_SUBJECT, BELOW_SUBJECT, SUBJECT_ABOVE, BEFORE_SUBJECT, CLAUSE_BEFORE, SAME_CLAUSE,
    ABOVE, BELOW, ELSEWHERE, OTHER_THAN_SUBJECT, BESIDE_SUBJECT, ARGUMENTS, OBLIQUE_BESIDE, OWNED,
    LAST_MAIN_SUBJECT, LAST_SUBJECT, LAST_OBJECT, LAST_OTHER, INCOMPATIBLE,
) = (1 << bit for bit in range(PATH, PATH + 19))  # fmt: skip
PATHS, CLASHES, LASTS = 9, 5, 4  # how many there are of each
# How two words are related, as one number: cosine (0 unknown, 7 the same word), relation, cluster.
COSINES, RELATIONS, SAME_CLUSTER = 8, 8, 64
(
    NO_RELATION, OTHER_CLASS, SAME_CLASS, EARLIER_ABOVE, LATER_ABOVE, SYNONYM, DERIVED, SAME_WORD,
) = range(8)  # fmt: skip

K, G, S, R, D = len(KINDS), GROUP_COUNT, len(TYPES), len(ROLES), len(DETERMINERS)
W = len(CLASSES)
LEVELS = 10  # of likeness by words: see cells_kernels.level


@dataclass(frozen=True, slots=True)
class CodeTable:
    """An observed characteristic and its number of values."""

    name: str
    values: int
    says: str


# The first ones are of the mention alone, and thus the same for every cell.
CELL = (
    CodeTable("kind", K, "how the mention refers"),
    CodeTable("group", G, "how the mention refers, coarsely"),
    CodeTable("sort", S, "the most probable sort of the mention"),
    CodeTable("certainty", 6, "how certain that sort is"),
    CodeTable("presence", 6, "probability that the mention is one"),
    CodeTable("flags", 4, "possessive, reflexive"),
    CodeTable("pointer", 5, "this, that, these, those"),
    CodeTable("rarity", 7, "how rare the head is in English"),
    CodeTable("determiner", D, "determiner of the mention"),
    CodeTable("length", 9, "words of the mention"),
    CodeTable("parent", G + 1, "how the expression around the mention refers"),
    CodeTable("question", 4, "in a question; the paragraph before ends with one"),
    CodeTable("turn before", 5, "mentions of the paragraph before"),
    CodeTable("habit", 6, "how faithfully such mentions stayed in one cell so far"),
    CodeTable("agreement", 9, "probability that the sorts of mention and cell are the same"),
    CodeTable("cell sort", S, "the most probable sort of the cell"),
    CodeTable("last presence", 6, "probability that the last member is a mention"),
    CodeTable("likeness", LEVELS, "the strongest likeness by words to a member"),
    CodeTable("nearest likeness", LEVELS, "the likeness to the most recent noun or name"),
    CodeTable("alike members", 4, "whether none, some or all nouns and names match"),
    CodeTable("sentences", 9, "sentences since the last member"),
    CodeTable("rank", 8, "rank by recency among cells of the sort"),
    CodeTable("agreeing rank", 8, "rank by recency among agreeing cells, 0 if not"),
    CodeTable("size", 7, "number of members"),
    CodeTable("last group", G, "how the last member refers, coarsely"),
    CodeTable("number", 12, "number of the mention and numbers in the cell"),
    CodeTable("gender", 8 * GENDERS, "gender of the mention and genders in the cell"),
    CodeTable("pronoun", 5, "whether the cell's last pronoun is of the mention's kind"),
    CodeTable("roles", R * R, "role of the mention and of the last member"),
    CodeTable("nesting", 4, "inside the last member, inside another, beside one in a third"),
    CodeTable("apposition", 3, "apposition to a member, or predicate of one"),
    CodeTable("mentions", 9, "mentions since the last member"),
    CodeTable("rivals", 5, "how many cells have the strongest likeness"),
    CodeTable("strongest", 4, "whether this is the most recent cell of strongest likeness"),
    CodeTable("first group", G, "how the first member refers, coarsely"),
    CodeTable("nearby role", 2 * R, "role of a last member in this or the last sentence"),
    CodeTable("paragraphs", 4, "paragraphs since the last member"),
    CodeTable("cover", 4, "all words of the mention are in the cell, or the other way"),
    CodeTable("owner", 4, "whether the possessors are in one cell"),
    CodeTable("turns", 25, "of I and you: paragraphs since the cell's last I, and last you"),
    CodeTable("modifiers", 7, "modifiers compared with those of the most alike member"),
    CodeTable("other complement", 5, "what follows the head of the most alike member"),
    CodeTable("gap", 7, "characters between the last member and the mention"),
    CodeTable("as before", 3, "whether the last such mention is in this cell"),
    CodeTable("speaking", 8, "I, we, you in the cell"),
    CodeTable("cosine", COSINES + 1, "similarity of heads to the most similar member"),
    CodeTable("relation", RELATIONS + 1, "relation of the heads in the dictionary"),
    CodeTable("shared word", 7, "how rare the rarest word is that a member shares"),
    CodeTable("phrase", 8, "similarity of the words to those of the most similar member"),
    CodeTable("governors", COSINES, "similarity of the verbs of mention and last member"),
    CodeTable("fit", COSINES + 1, "similarity of the mention's verb to the cell's noun"),
    CodeTable("cell class", W, "WordNet's class of the cell's most recent noun"),
    CodeTable("parts", 16, "partitives and coordinations: the mention, the recent noun"),
    CodeTable("alike sentences", 10, "sentences since the most alike member"),
    CodeTable("alike number", 10, "number of the mention and of the most alike member"),
    CodeTable("noun sentences", 10, "sentences since the most recent noun or name"),
    CodeTable("noun group", G + 1, "how the most recent noun or name refers, coarsely"),
    CodeTable("noun number", 10, "number of the mention and of the most recent noun or name"),
    CodeTable("pronoun sentences", 10, "sentences since the cell's last pronoun"),
    CodeTable("age", 9, "mentions since the first member"),
    CodeTable("cluster", 3, "whether a member has a head of the same cluster of words"),
    CodeTable("quotation", 6, "in a quotation; the last member in it, in another, outside"),
    CodeTable("voices", 32, "of I and you: the same for the cell's last I, and last you"),
    CodeTable("speaker rank", 6, "of I, we, you: rank by recency among cells with I or you"),
    CodeTable("name gender", 16 * GENDERS, "gender of the mention, genders of names in the cell"),
    CodeTable("pronouns", 8 * 16, "how the mention refers; he, she, it, they, a man, a woman"),
    CodeTable("binding", 18, "argument beside a member, possessor or possession of one"),
    CodeTable("path", 3 * (PATHS + 2), "the most telling place of a member in this sentence"),
    CodeTable("last sentence", 2 * (LASTS + 1), "the most telling place in the sentence before"),
    CodeTable("other name", 10, "a member is named, in common or in other words; of a person"),
)  # fmt: skip

(
    C_KIND, C_GROUP, C_TYPE, C_CERTAINTY, C_PRESENCE, C_FLAGS, C_POINTER, C_RARITY,
    C_DETERMINER, C_LENGTH, C_PARENT, C_QUESTION, C_TURN, C_HABIT, C_AGREEMENT, C_CELL_TYPE,
    C_LAST_PRESENCE, C_LIKENESS, C_NEAREST, C_ALIKE, C_SENTENCES, C_RANK, C_AGREEING, C_SIZE,
    C_LAST_GROUP, C_NUMBER, C_GENDER, C_PRONOUN, C_ROLES, C_NESTING, C_APPOSITION, C_MENTIONS,
    C_RIVALS, C_STRONGEST, C_FIRST, C_NEARBY, C_PARAGRAPHS, C_COVER, C_OWNER, C_TURNS,
    C_MODIFIERS, C_OTHER_COMPLEMENT, C_GAP, C_AS_BEFORE, C_SPEAKING, C_COSINE, C_RELATION,
    C_SHARED, C_PHRASE, C_GOVERNORS, C_FIT, C_CELL_CLASS, C_PARTS, C_ALIKE_SENTENCES,
    C_ALIKE_NUMBER, C_NOUN_SENTENCES, C_NOUN_GROUP, C_NOUN_NUMBER, C_PRONOUN_SENTENCES, C_AGE,
    C_CLUSTER, C_QUOTE, C_VOICES, C_SPEAKER_RANK, C_NAME_GENDER, C_PRONOUNS, C_BINDING, C_PATH,
    C_LAST, C_OTHER_NAME,
) = range(70)  # fmt: skip
OWN, GATING = C_HABIT + 1, C_HABIT


NEW = (
    CodeTable("kind", K, "how the mention refers"),
    CodeTable("sort", S, "the most probable sort of the mention"),
    CodeTable("certainty", 6, "how certain that sort is"),
    CodeTable("presence", 6, "probability that the mention is one"),
    CodeTable("best likeness", LEVELS - 1, "the strongest likeness to any cell"),
    CodeTable("cells", 8, "cells of the sort so far"),
    CodeTable("length", 9, "words of the mention"),
    CodeTable("modifiers", 4, "modifiers of the mention"),
    CodeTable("determiner", D, "its determiner"),
    CodeTable("role", R, "its role"),
    CodeTable("nested", 2, "whether it stands inside another mention"),
    CodeTable("agreeing", 8, "cells that agree"),
    CodeTable("near", 8, "agreeing cells in this sentence and in the one before"),
    CodeTable("flags", 4, "possessive, reflexive"),
    CodeTable("overlaps", 3, "cells that share a word with it"),
    CodeTable("likest", 6, "cells that have the strongest likeness"),
    CodeTable("head count", 8, "mentions with this head in the document"),
    CodeTable("split", 12, "earlier mentions with this head, and over how many cells"),
    CodeTable("habit", 6, "how faithfully such mentions stayed in one cell so far"),
    CodeTable("rarity", 7, "how rare the head is in English"),
    CodeTable("noun class", W, "WordNet's class of the head"),
    CodeTable("best phrase", 8, "the greatest similarity of words to any cell"),
    CodeTable("quoted", 2, "whether it stands in a quotation"),
    CodeTable("fronted", 3, "in a clause before its main clause, or before the subject"),
)  # fmt: skip
(
    N_KIND, N_TYPE, N_CERTAINTY, N_PRESENCE, N_BEST, N_CELLS, N_LENGTH, N_MODIFIERS,
    N_DETERMINER, N_ROLE, N_NESTED, N_AGREEING, N_NEAR, N_FLAGS, N_OVERLAPS, N_LIKEST,
    N_HEAD_COUNT, N_SPLIT, N_HABIT, N_RARITY, N_CLASS, N_PHRASE, N_QUOTED, N_FRONTED,
) = range(24)  # fmt: skip
# Kinds of evidence that are taken away together to explain a decision, by names of both tables.
EVIDENCE = {
    "words in common": (
        "likeness", "nearest likeness", "alike members", "cover", "modifiers", "other complement",
        "rivals", "strongest", "shared word", "alike sentences", "alike number", "other name",
        "best likeness", "overlaps", "likest", "head count", "split",
    ),
    "gender and number": (
        "number", "gender", "name gender", "pronouns", "pronoun", "noun number", "agreeing rank",
        "agreeing", "near",
    ),
    "type": ("sort", "certainty", "agreement", "cell sort", "rank", "cells"),
    "meaning of the words": (
        "cosine", "relation", "phrase", "cell class", "cluster", "rarity", "noun class",
        "best phrase", "word",
    ),
    "verbs": ("governors", "fit"),
    "place in the sentence": (
        "roles", "nesting", "apposition", "nearby role", "binding", "path", "last sentence",
        "parent", "owner", "parts", "role", "nested", "fronted",
    ),
    "distance": (
        "sentences", "mentions", "paragraphs", "gap", "noun sentences", "pronoun sentences",
    ),
    "form of the expression": (
        "kind", "group", "flags", "pointer", "determiner", "length", "last group", "first group",
        "noun group",
    ),
    "the entity so far": ("size", "age", "habit", "as before"),
    "speakers": (
        "question", "turn before", "turns", "speaking", "quotation", "voices", "speaker rank",
        "quoted",
    ),
    "certainty of the mention": ("presence", "last presence"),
}  # fmt: skip


# Cells that are far from a mention are not looked at closely, but get a score for its group and
# one of three classes.
OTHER = ("other sort", "other sort, near", "long ago")


def sizes(characteristics: tuple[CodeTable, ...]) -> IntArray:
    """Return the number of values of each."""
    return np.array([each.values for each in characteristics], dtype=np.int64)


def offsets(characteristics: tuple[CodeTable, ...], first: int = 0) -> IntArray:
    """Return where the values of each begin when all are laid in one row."""
    starts: IntArray = first + np.concatenate([[0], np.cumsum(sizes(characteristics))[:-1]])
    return starts.astype(np.int64)
