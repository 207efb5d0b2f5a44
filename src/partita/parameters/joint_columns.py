"""The joint model's words for a template and for two of them: columns of whole numbers, and bits.

A template is a row of attributes; an earlier and a later template are a set of relation bits.
"""

from __future__ import annotations

# How an expression refers: pronouns first, so that kind <= LAST_PRONOUN asks for a pronoun.
KINDS = (
    "i", "we", "you", "he", "she", "it", "they", "demonstrative", "indefinite pronoun", "question",
    "other pronoun", "name", "plural name", "the", "plural the", "this", "possessed", "a",
    "other determiner", "bare", "plural bare", "deictic", "numeral",
)  # fmt: skip
ME, WE, YOU, HE, SHE, IT, THEY, DEMONSTRATIVE = range(8)
LAST_PRONOUN = KINDS.index("other pronoun")
NAME, PLURAL_NAME = KINDS.index("name"), KINDS.index("plural name")
# Kinds that mostly behave alike, as the group of each kind.
GROUPS = (0, 1, 2, 3, 3, 4, 5, 6, 7, 7, 7, 8, 8, 9, 9, 10, 11, 12, 12, 13, 13, 14, 14)
GROUP_COUNT = 15

SORTS = (
    "", "person", "place", "organization", "object", "event", "time", "substance", "animal",
    "plant", "abstract",
)  # fmt: skip
ROLES = ("other", "subject", "object", "oblique", "possessive", "apposition")
DETERMINERS = (
    "", "the", "a", "an", "this", "that", "these", "those", "some", "any", "all", "each", "every",
    "no", "another", "both", "what", "which", "possessor",
)  # fmt: skip
POINTING = ("", "this", "that", "these", "those")
MASCULINE, FEMININE, NEUTER = 1, 2, 4  # as bits, since a cell may hold several
SINGULAR, PLURAL = 1, 2

(
    KIND, SORT, NUMBER, GENDER, ROLE, SENTENCE, PARAGRAPH, REGION, PARENT, OWNER, HEAD, LEXEME,
    FLAGS, LENGTH, MODIFIERS, DETERMINER, POSITION, POINTER, START, END, HEAD_COUNT, COMPLEMENT,
) = range(22)  # fmt: skip
ATTRIBUTES = 22

(
    SAME_TEXT, SAME_HEAD, ALL_OF_LATER, ALL_OF_EARLIER, SHARED_WORD, SAME_STEM, ACRONYM,
    SHARED_NAME, PART_OF_NAME, NESTED, APPOSED, PREDICATED, HEAD_INSIDE, SIBLINGS, OTHER_NUMERAL,
) = (1 << bit for bit in range(15))  # fmt: skip
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
