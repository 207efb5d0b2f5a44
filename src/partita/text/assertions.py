"""Find what a sentence denies, holds possible or only reports: cues and the words in their scope.

A scope runs from its cue to the end of the clause, judged by tags and conjunctions, so that it
needs no tree. Some cues reach further: "according to" covers the sentence, "said that" the rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from partita.core.templates import FORMER, RANKS, Status


@dataclass(frozen=True, slots=True)
class Scope:
    """The tokens from `first` to before `last` have this status because of the cue's tokens."""

    status: Status
    cue: tuple[int, int]
    first: int
    last: int


NOT = frozenset(["not", "n't", "n’t", "never"])
NOBODY = frozenset(
    """nobody none nothing neither nor no-one nowhere hardly scarcely rarely seldom""".split()  # noqa: SIM905
)
FORMERLY = frozenset(["formerly", "previously", "originally"])
UNTIL = frozenset(["until", "till"])
PAST = FORMERLY | UNTIL | {"no longer", "no more", "once", "used to"}  # cues of what was so
LASTING = frozenset(
    """was were remained stayed stood lay""".split()  # noqa: SIM905
)
DENYING = frozenset(
    """deny denies denied denying refute refutes refuted rejected dismissed disprove disproved
    doubt doubts doubted""".split()  # noqa: SIM905
)
FAILING = frozenset(
    """fail fails failed failing refuse refuses refused refusing decline declined unable unlikely
    prevent prevented preventing avoid avoided avoiding impossible doubtful improbable
    inconceivable""".split()  # noqa: SIM905
)
ALMOST = frozenset(["nearly", "almost"])
FALSE = frozenset(
    """false untrue wrong incorrect unfounded baseless groundless mistaken""".split()  # noqa: SIM905
)
CLAIMS = frozenset(
    """claim claims report reports rumor rumors rumour rumours allegation allegations assertion
    assertions statement statements suggestion suggestions story stories""".split()  # noqa: SIM905
)
RUMOURS = frozenset(
    """report reports rumor rumors rumour rumours claim claims allegation allegations""".split()  # noqa: SIM905
)
MODALS = frozenset(
    """may might could would should will shall must 'll ’ll 'd ought wo""".split()  # noqa: SIM905
)
PERHAPS = frozenset(
    """perhaps maybe probably possibly presumably apparently likely seemingly potentially
    conceivably arguably poss poss. prob prob.""".split()  # noqa: SIM905
)
REPORTEDLY = frozenset(
    ["reportedly", "allegedly", "purportedly", "supposedly", "rumored", "rumoured"]
)
SUSPECTED = frozenset(
    """possible probable suspected presumed potential apparent likely unconfirmed poss poss. prob
    prob. susp susp.""".split()  # noqa: SIM905
)
SHORT = frozenset(["poss", "poss.", "prob", "prob."])  # adverbs or adjectives of telegrams
ALLEGED = frozenset(
    ["alleged", "reported", "purported", "rumored", "rumoured", "so-called", "supposed"]
)
IF = frozenset(["if", "unless", "whether"])
BELIEVING = frozenset(
    """believe believes believed think thinks thought suspect suspects suspected expect expects
    expected assume assumes assumed presume presumes presumed estimate estimates estimated assess
    assessed fear fears feared hope hopes hoped hypothesize hypothesized hypothesise hypothesised
    guess appear appears appeared seem seems seemed""".split()  # noqa: SIM905
)
INTENDING = frozenset(
    """plan plans planned planning intend intends intended want wants wanted try tries tried trying
    attempt attempts attempted attempting threaten threatens threatened threatening seek seeks
    sought hope hopes hoped expect expects expected prepare prepares preparing offer offers offered
    promise promises promised vow vowed decide decides ask asks asked order orders ordered urge
    urged propose proposes proposed schedule scheduled agree agrees ready likely due
    supposed about meant slated set destined designed""".split()  # noqa: SIM905
)
SAYING = frozenset(
    """say says said saying claim claims claimed claiming report reports reported reporting allege
    alleges alleged alleging state states stated announce announces announced assert asserts
    asserted maintain maintains maintained insist insists insisted contend contends contended
    declare declares declared argue argues argued add added tell tells told testify testified
    rumor rumored rumoured boast boasts boasted indicate indicates indicated suggest suggests
    suggested""".split()  # noqa: SIM905
)
SEEN = frozenset(["seen", "observed", "found", "heard", "detected", "spotted", "identified"])
UNCERTAIN = frozenset(["guarantee", "certainty", "assurance", "telling", "knowing"])
STANDARDS = frozenset(
    """plan plans schedule system method size type kind rank need needs taste season rules rule
    principles custom tradition instructions""".split()  # noqa: SIM905
)
EVIDENCE = frozenset(
    """evidence indication indications sign signs proof confirmation report reports suggestion
    trace reason basis truth""".split()  # noqa: SIM905
)
BREAKS = frozenset(
    """; : ( ) [ ] -- – — but although though whereas because while however yet when since so
    until after before""".split()  # noqa: SIM905
)
IS = frozenset(["is", "are", "was", "were"])
FAR_FROM = frozenset(["anything but", "far from"])
BE = frozenset(["is", "are", "was", "were", "be", "been", "being", "am", "'s", "’s", "'re", "’re"])
FINITE = ("VBZ", "VBD", "VBP", "MD")
NOMINAL = ("NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS", "CD", "VBN", "VBG", "HYPH")
SUBJECT_MOST = 8  # tokens between a comma and a verb of saying that ends a sentence
CUES = (
    NOT | NOBODY | FORMERLY | DENYING | FAILING | MODALS | PERHAPS | REPORTEDLY | SUSPECTED
    | ALLEGED | IF | BELIEVING | INTENDING | SAYING
    | ALMOST | FALSE | CLAIMS
    | {"no", "according", "without", "used", "once", "rule", "ruled", "to", "instead", "can"}
    | {"?", "had", "were", "yet", "anything", "far", "going"} | UNTIL | FORMER
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class TaggedSentence:
    """The lower-case words and the tags of a sentence."""

    words: Sequence[str]
    tags: Sequence[str]

    def word(self, n: int) -> str:
        return self.words[n] if 0 <= n < len(self.words) else ""

    def tag(self, n: int) -> str:
        return self.tags[n] if 0 <= n < len(self.tags) else ""

    def skip(self, n: int, *prefixes: str) -> int:
        """Return the first place from n on whose tag begins with none of the prefixes."""
        while n < len(self.words) and self.tags[n].startswith(prefixes):
            n += 1
        return n


def scopes(words: Sequence[str], tags: Sequence[str]) -> tuple[Scope, ...]:
    """Return the scopes of one sentence, given its lower-case words and its tags."""
    if CUES.isdisjoint(words):
        return ()
    sentence = TaggedSentence(words, tags)
    return tuple(
        scope
        for n, word in enumerate(words)
        if word in CUES
        for scope in _of_cue(sentence, n, word)
        if scope.first < scope.last
    )


def _of_cue(s: TaggedSentence, n: int, word: str) -> Iterator[Scope]:
    for cues, find in FINDERS:
        if word in cues:
            yield from find(s, n)


def _negation(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what "not", "never" and the like deny; "not only" and "not deny" deny nothing."""
    verb = s.skip(n + 1, "RB", "VBN" if s.word(n + 1) == "been" else "RB")
    only = s.word(n) in NOT and s.word(n + 1) in ("only", "just", "merely")
    if only or (s.word(n) in NOBODY and s.word(verb) in ("doubt", "doubts", "doubted")):
        return
    if s.word(verb) in DENYING or (s.word(verb) == "rule" and s.word(verb + 1) == "out"):
        yield _forward(s, "possible", (n, n + 1), verb + 1, far=True)
        return
    if s.word(n) in NOT and s.word(verb) in ("clear", "known", "certain", "sure", "know"):
        end = _end(s, verb + 1)
        yield Scope("denied", (n, n + 1), n + 1, min(verb + 1, end))
        if s.word(verb + 1) in ("whether", "if", "that", "how"):
            yield _forward(s, "possible", (n, n + 1), verb + 2)
        return
    last = _end(s, n + 1)
    if s.word(last) in UNTIL and s.word(n) in NOT and not _clause_follows(s, last + 1):
        return  # what was not so until May has been so since
    if s.word(n) == "nor":
        last = _end(s, s.skip(n + 1, "VB", "MD"))
    yield Scope("denied", (n, n + 1), n + 1, last)
    if s.word(last) in ("that", "whether") and last < len(s.words):
        if s.word(n) in NOBODY:
            yield _forward(s, "denied", (n, n + 1), last + 1)
        elif _unsure(s.words[n + 1 : last]):
            yield _forward(s, "possible", (n, n + 1), last + 1)


def _unsure(words: Sequence[str]) -> bool:
    """Return whether these words, denied, leave open what follows: "not confirmed that …"."""
    if not SAYING.isdisjoint(words) or not BELIEVING.isdisjoint(words):
        return True
    return any(word.startswith(("confirm", "verif", "establish", "determine")) for word in words)


def _no(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what "no" denies: its group and the verb after it, or what there is no evidence of."""
    following = s.word(n + 1)
    if following in ("one", "body"):  # nobody
        yield from _nobody(s, n)
        return
    if following in ("longer", "more") and s.tag(n) != "DT" and s.word(n + 2) != "than":
        yield _forward(s, "denied", (n, n + 2), n + 2)
        return
    if following in ("more", "less", "fewer", "later", "doubt", "matter", ".") or s.tag(n) == "UH":
        return
    if following[:1].isdigit():
        return
    noun = s.skip(n + 1, "JJ", "VBN", "VBG")
    if s.word(noun) in EVIDENCE:
        at = noun + 1
        while at < len(s.words) and s.word(at) not in ("that", "of", "for") and at < noun + 8:
            at += 1
        yield _forward(s, "denied", (n, noun + 1), at + 1)
        return
    if s.word(noun) in UNCERTAIN:
        yield _forward(s, "possible", (n, noun + 1), noun + 1 + (s.word(noun + 1) == "that"))
        return
    yield _forward(s, "denied", (n, n + 1), n + 1)


def _nobody(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what "no one" denies: all of its clause, and what no one believes."""
    if s.word(n + 2) in ("doubt", "doubts", "doubted"):
        return
    last = _end(s, n + 2)
    yield Scope("denied", (n, n + 2), n + 2, last)
    if s.word(last) == "that":
        yield _forward(s, "denied", (n, n + 2), last + 1)


def _formerly(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what was so, up to a verb of now: "a depot formerly used by troops is a school"."""
    last = _end(s, n + 1)
    verb = next((m for m in range(n + 2, last) if s.tag(m) in FINITE), last)
    yield _past(s, (n, n + 1), n + 1, verb)


def _past(s: TaggedSentence, cue: tuple[int, int], first: int, last: int) -> Scope:
    """Return the scope of what was so, without those who did it: "guarded by a platoon"."""
    for m in range(first, last):
        if s.word(m) == "by" and (s.word(m + 1) in ("a", "an") or s.tag(m + 1) in ("CD", "NNS")):
            return Scope("denied", cue, first, m)
    return Scope("denied", cue, first, last)


def _once(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what something once was: "was once a school", ", once a school,"."""
    aside = s.word(n - 1) in (",", "(") and s.tag(n + 1) == "DT"
    if aside or (s.word(n - 1) in BE and s.tag(n).startswith("RB")):
        yield _past(s, (n, n + 1), n + 1, _end(s, n + 1))


def _until(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what was so until some time; what was done until then is not denied."""
    leads = n == 0 or s.word(n - 1) in (",", ";", "and", "but")
    if leads:
        comma = next((m for m in range(n, len(s.words)) if s.word(m) == ","), n)
        verbs = [m for m in range(comma, len(s.words)) if s.tag(m) in FINITE]
        verb, last = verbs[0] if verbs else -1, _end(s, verbs[0] + 1) if verbs else n
    else:
        verbs = [m for m in range(n) if s.tag(m) in FINITE]
        verb, last = verbs[-1] if verbs else -1, n
    said = s.words[verb + 1 : last]
    if verb >= 0 and s.word(verb) in LASTING and NOT.isdisjoint(said) and "no" not in said:
        yield _past(s, (n, n + 1), verb + 1, last)


def _used(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what used to be; "is used to store" is no cue."""
    if s.word(n + 1) == "to" and s.tag(n + 2).startswith("VB") and s.word(n - 1) not in BE:
        yield _past(s, (n, n + 2), n + 2, _end(s, n + 2))


def _denies(s: TaggedSentence, n: int) -> bool:
    return s.word(n) == "doubt" or not s.tag(n).startswith("N")


def _is_modal_may(s: TaggedSentence, n: int) -> bool:
    return s.word(n) == "may" and s.tag(n + 1) in ("VB", "RB")


def _negated(s: TaggedSentence, n: int) -> bool:
    before = n - 1
    while before >= 0 and s.tag(before).startswith(("RB", "VBN", "VB")) and before > n - 4:
        if s.word(before) in NOT:
            return True
        before -= 1
    unsure = NOBODY | {"no", "little"}  # "no doubt", "little doubt"
    return s.word(before) in unsure or (s.word(before - 1), s.word(before)) == ("no", "one")


def _can(s: TaggedSentence, n: int) -> bool:
    """Return whether "can" leaves open what follows; what can be seen is there."""
    verb = s.skip(n + 1, "RB")
    return s.tag(n) == "MD" and not (s.word(verb) == "be" and s.word(verb + 1) in SEEN)


def _question(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield a question that may be answered by yes or no; others presuppose what they say."""
    if n >= len(s.words) - 2 and not s.tag(0).startswith("W"):
        yield Scope("possible", (n, n + 1), 0, n)


def _inverted(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield the condition of "Had the dam been destroyed, …"."""
    if n == 0 and s.tag(1).startswith(("DT", "PRP", "N")) and "," in s.words:
        yield Scope("possible", (0, 1), 1, s.words.index(","))


def _false(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield the claim that is said to be false, before or after the word."""
    negated = s.word(n - 1) in NOT
    if s.word(n - 1 - negated) not in BE:
        return
    status: Status = "possible" if negated else "denied"
    if s.word(n + 1) == "that":
        yield _forward(s, status, (n, n + 1), n + 2)
    claims = [m for m in range(n) if s.word(m) in CLAIMS and s.word(m + 1) == "that"]
    if claims:
        yield Scope(status, (n, n + 1), claims[0] + 2, n - 1 - negated)


def _claim(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what a claim, report or rumour says: "the claim that …", "reports of …"."""
    if not s.tag(n).startswith("N") or s.word(n - 1) in DENYING:
        return
    status: Status = "possible" if s.word(n - 1) in SUSPECTED else "reported"
    if s.word(n + 1) == "that":
        yield _forward(s, status, (n, n + 1), n + 2, far=True)
    elif s.word(n + 1) == "of" and s.word(n) in RUMOURS:
        yield _forward(s, status, (n, n + 1), n + 2)


def _perhaps(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what an adverb makes possible; "likely" as an adjective belongs to its group."""
    adjective = s.tag(n) not in ("RB", "MD") or s.word(n) in SHORT
    if s.word(n) in SUSPECTED and adjective and _group_end(s, n) > n + 1:
        return
    if s.word(n) == "likely" and s.word(n + 1) == "that":
        return
    yield _forward(s, "possible", (n, n + 1), n + 1)


def _group(status: Status) -> Callable[[TaggedSentence, int], Iterator[Scope]]:
    """Return the finder of an adjective's noun group, or of what is possible "that"."""

    def find(s: TaggedSentence, n: int) -> Iterator[Scope]:
        if s.word(n - 1) in BE and s.word(n + 1) == "that":
            yield _forward(s, status, (n, n + 1), n + 2)
        elif not s.tag(n).startswith("VBD"):
            yield Scope(status, (n, n + 1), n + 1, _group_end(s, n))

    return find


def _group_end(s: TaggedSentence, n: int) -> int:
    """Return where the noun group of an adjective ends: behind its last noun."""
    nouns = [m for m in range(n + 1, s.skip(n + 1, *NOMINAL)) if s.tag(m).startswith(("NN", "CD"))]
    return nouns[-1] + 1 if nouns else n + 1


def _believing(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what somebody believes, or what is believed to be."""
    if not s.tag(n).startswith("VB") or (_group_end(s, n) > n + 1 and s.tag(n - 1) in ("DT", "IN")):
        return
    at = s.skip(n + 1, "RB")
    copula = s.word(n).startswith(("appear", "seem")) or (s.tag(n) == "VBN" and s.word(n - 1) in BE)
    if (
        (copula and s.tag(at) in ("VBN", "JJ"))
        or s.word(at) in ("to", "that")
        or _clause_follows(s, at)
    ):
        yield _forward(s, "possible", (n, n + 1), at, far=True)


def _intending(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what somebody plans, tries or is asked to do."""
    at, last = n + 1, min(n + 6, len(s.words))
    if s.tag(n).startswith("N") and s.word(n) not in ("plan", "plans", "attempt", "attempts"):
        return
    while at < last and s.word(at) != "to" and not s.tag(at).startswith(("VB", "MD", ",", ".")):
        at += 1
    if s.word(at) == "to" and s.tag(at + 1).startswith(("VB", "RB")):
        yield _forward(s, "possible", (n, n + 1), at)


def _saying(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield what somebody says: after the verb, or before it at the end of a sentence."""
    tag = s.tag(n)
    if not tag.startswith("VB") or (s.word(n) in ALLEGED and _is_modifier(s, n)):
        return
    if (comma := _comma_before(s, n)) >= 0:
        yield Scope("reported", (n, n + 1), 0, comma)
        return
    if (s.word(n) in ("said", "alleged") and s.word(n + 1) == "to") or _clause_follows(s, n + 1):
        yield _forward(s, "reported", (n, n + 1), n + 1, far=True)
    elif s.word(n).startswith(("report", "alleg", "claim")):
        yield _forward(s, "reported", (n, n + 1), n + 1)


def _is_modifier(s: TaggedSentence, n: int) -> bool:
    """Return whether a participle stands before its noun: "the reported depot"."""
    return s.tag(n - 1) in ("DT", "PRP$", "JJ", "") and _group_end(s, n) > n + 1


def _clause_follows(s: TaggedSentence, n: int) -> bool:
    """Return whether "that", or a subject and a finite verb, follow before the clause ends."""
    if s.word(n) in ("that", "he", "she", "it", "they", "there", "we", "i", ":"):
        return True
    end = _end(s, n, far=True)
    verbs = [m for m in range(n, end) if s.tag(m) in FINITE]
    return (
        bool(verbs)
        and verbs[0] > n
        and any(s.tag(m).startswith(("N", "P")) for m in range(n, verbs[0]))
    )


def _comma_before(s: TaggedSentence, n: int) -> int:
    """Return the comma of ", the minister said." at the end of a sentence, or -1."""
    if len(s.words) - n > SUBJECT_MOST:
        return -1
    for m in range(n - 1, max(n - SUBJECT_MOST, 0), -1):
        if s.word(m) in (",", "”", "''", '"'):
            after = s.skip(n + 1, "DT", "N", "J", "PRP", "IN", "CD", "''", "``", "RB")
            closed = s.word(after) in ("", ".", '"', "”") or s.tag(after) in (".", "''")
            return m if closed and any(t in FINITE for t in s.tags[:m]) else -1
        if s.tag(m) in FINITE:
            return -1
    return -1


def _according(s: TaggedSentence, n: int) -> Iterator[Scope]:
    """Yield the sentence around "according to …"."""
    if s.word(n + 1) != "to" or s.word(n + 2) == "which":
        return
    noun = s.skip(n + 2, "DT", "PRP$", *NOMINAL) - 1
    if s.word(noun) in STANDARDS:
        return
    last = n + 2
    while last < len(s.words) and s.word(last) not in (",", ".", ";"):
        last += 1
    before = [m for m in range(n) if s.word(m) == ";"]
    first = before[-1] + 1 if before else 0
    yield Scope("reported", (n, n + 2), first, n)
    after = next((m for m in range(last, len(s.words)) if s.word(m) == ";"), len(s.words))
    yield Scope("reported", (n, n + 2), last, after)


def _forward(
    s: TaggedSentence, status: Status, cue: tuple[int, int], first: int, far: bool = False
) -> Scope:
    return Scope(status, cue, first, _end(s, first, far))


def _end(s: TaggedSentence, first: int, far: bool = False) -> int:
    """Return where the clause that goes on at a token ends; `far` passes commas and clauses."""
    at = first
    while at < len(s.words):
        if at > first and _ends(s, at, far, first):
            return at
        at += 1
    return at


def _ends(s: TaggedSentence, at: int, far: bool, first: int) -> bool:
    word, tag = s.word(at), s.tag(at)
    if tag == "." or word in (";", ")", "]"):
        return True
    if far:
        return word in ("but", "although", "though", "while", "however") or tag == ":"
    if word in BREAKS:
        return True
    if word == ",":
        return not _list_goes_on(s, at)
    if tag in ("WDT", "WP", "WRB") or (word == "that" and tag == "IN"):
        return True
    if word in ("and", "or", "&"):
        return _clause_after(s, at)
    return False


def _list_goes_on(s: TaggedSentence, comma: int) -> bool:
    """Return whether what follows a comma belongs to the same verb: "not damage, burn or …"."""
    following = s.tag(comma + 1)
    return following in ("VB", "VBN") and s.word(comma + 1) not in CUES


def _clause_after(s: TaggedSentence, conjunction: int) -> bool:
    """Return whether a finite verb, with a subject or without, follows a conjunction."""
    at = s.skip(conjunction + 1, "RB")
    if s.tag(at) in ("VBZ", "VBP", "MD") or s.word(at) in ("was", "were", "had"):
        return True
    if s.tag(at) in ("VBD", "VBN"):
        return False
    for m in range(at, min(at + 8, len(s.words))):
        if s.tag(m) in (",", ".", ":") or s.word(m) in BREAKS:
            return False
        if s.tag(m) in FINITE and m > at:
            return True
    return False


Finder = Callable[[TaggedSentence, int], Iterator[Scope]]


def _ahead(
    status: Status,
    when: Callable[[TaggedSentence, int], bool] = lambda s, n: True,
    size: int = 1,
    far: bool = False,
) -> Finder:
    """Return the finder of a cue of so many words that says something of what follows it."""

    def find(s: TaggedSentence, n: int) -> Iterator[Scope]:
        if when(s, n):
            yield _forward(s, status, (n, n + size), n + size, far)

    return find


FINDERS: tuple[tuple[frozenset[str], Finder], ...] = (
    (NOT | NOBODY, _negation),
    (frozenset({"no"}), _no),
    (FORMERLY, _formerly),
    (frozenset({"once"}), _once),
    (FORMER, _group("denied")),
    (UNTIL, _until),
    (frozenset({"used"}), _used),
    # what somebody denied may follow "that" or "reports that"
    (DENYING, _ahead("denied", lambda s, n: _denies(s, n) and not _negated(s, n), far=True)),
    (FAILING, _ahead("denied")),
    (
        frozenset({"rule", "ruled"}),
        _ahead("denied", lambda s, n: s.word(n + 1) == "out" and not _negated(s, n), 2, far=True),
    ),
    (
        frozenset({"without"}),
        _ahead("denied", lambda s, n: s.word(n + 1) not in ("doubt", "question")),
    ),
    (frozenset({"instead"}), _ahead("denied", lambda s, n: s.word(n + 1) == "of", 2)),
    (
        MODALS,
        _ahead("possible", lambda s, n: s.tag(n) in ("MD", "RB") or _is_modal_may(s, n)),
    ),
    (frozenset({"can"}), _ahead("possible", _can)),
    (
        frozenset({"going"}),
        _ahead("possible", lambda s, n: s.word(n + 1) == "to" and s.tag(n + 2) == "VB", 2),
    ),
    # "the depot is to be closed", "was to have been closed"
    (
        frozenset({"to"}),
        _ahead("possible", lambda s, n: s.word(n - 1) in IS and s.tag(n + 1) == "VB"),
    ),
    (PERHAPS, _perhaps),
    (REPORTEDLY, _ahead("reported")),
    (SUSPECTED, _group("possible")),
    (ALLEGED, _group("reported")),
    (IF, _ahead("possible", lambda s, n: s.word(n - 1) != "as")),
    (BELIEVING, _believing),
    (INTENDING, _intending),
    (SAYING, _saying),
    (frozenset({"according"}), _according),
    # what was nearly done, but not done
    (ALMOST, _ahead("denied", lambda s, n: s.tag(s.skip(n + 1, "RB")).startswith("VB"))),
    (FALSE, _false),
    (CLAIMS, _claim),
    # what has yet to be done, and what something is anything but, or far from
    (frozenset({"yet"}), _ahead("denied", lambda s, n: s.word(n + 1) == "to")),
    (
        frozenset({"anything", "far"}),
        _ahead("denied", lambda s, n: f"{s.word(n)} {s.word(n + 1)}" in FAR_FROM, 2),
    ),
    (frozenset({"?"}), _question),
    (frozenset({"had", "were", "should"}), _inverted),
)


@dataclass(frozen=True, slots=True, eq=False)
class Statuses:
    """The scopes of a message, and which of them cover a token; places are of the message."""

    scopes: tuple[Scope, ...]
    ends: Sequence[int]  # of sentences
    by_sentence: dict[int, list[Scope]]

    @classmethod
    def of(cls, texts: Sequence[str], tags: Sequence[str], ends: Sequence[int]) -> Statuses:
        """Return the statuses of a message's tokens, given where its sentences end."""
        by_sentence: dict[int, list[Scope]] = {}
        begin = 0
        words = [text.lower() for text in texts]
        for number, end in enumerate(ends):
            for one in scopes(words[begin:end], tags[begin:end]):
                cue = (one.cue[0] + begin, one.cue[1] + begin)
                placed = Scope(one.status, cue, one.first + begin, one.last + begin)
                by_sentence.setdefault(number, []).append(placed)
            begin = end
        every = tuple(scope for found in by_sentence.values() for scope in found)
        return cls(every, ends, by_sentence)

    def at(self, token: int) -> Scope | None:
        """Return the scope that decides a token's status, or None if it is asserted."""
        if not self.by_sentence:
            return None
        found = self.by_sentence.get(bisect_right(self.ends, token), ())
        return strongest(scope for scope in found if scope.first <= token < scope.last)


def strongest(found: Iterable[Scope]) -> Scope | None:
    """Return the scope whose status says least: denied, then possible, then reported."""
    return max(found, key=lambda scope: (RANKS[scope.status], scope.cue[0]), default=None)
