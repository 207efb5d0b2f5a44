"""Is what the run states true: bits, right answers and reliability, where keys exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from partita.evaluation.calibration import Bin
from partita.views.evaluation import counted
from partita.views.markup import Html, element, joined
from partita.views.reliability import bins_of
from partita.views.svg_reliability import reliability

PAIRS = "pairs, between .05 and .95"
LISTED = "listed configurations"


def calibration_section(measured: Mapping[str, Any]) -> Html:
    """From the figures of an evaluation, by their names."""
    drawn = [
        _figure(PAIRS, bins_of(measured.get("pair_reliability", ()))),
        _figure(LISTED, bins_of(measured.get("configuration_reliability", ()))),
    ]
    figures = element("table", joined(_figures(measured)), class_="facts")
    parts = element("div", figures, *drawn, class_="calibration")
    told = (
        "Stated probability against how often it was right, in bins of equal count; the area of a "
        "dot is its count, and on the dashed line all that is stated is true."
    )
    title = element("h2", "Calibration")
    return element(
        "section", title, element("p", told), *_warning(measured), parts, _sizes(measured),
        id="calibration",
    )  # fmt: skip


def _warning(measured: Mapping[str, Any]) -> Iterator[Html]:
    if known := measured.get("keys_learned_from"):
        keys = "1 of these keys was" if known == 1 else f"{known:,} of these keys were"
        told = f"{keys} learned from by this run's own parameters: the figures are too good."
        yield element("p", told, class_="warning")


def _figure(what: str, bins: Sequence[Bin]) -> Html:
    total = sum(one.count for one in bins)
    caption = element("figcaption", f"{what}: {total:,} statements")
    if not bins:
        return element("figure", caption, element("p", "nothing was stated", class_="left-out"))
    return element("figure", caption, reliability(bins, f"Reliability of {what}"))


def _figures(measured: Mapping[str, Any]) -> Iterator[Html]:
    sets = int(measured.get("sets", 0))
    messages = counted(int(measured.get("documents", 0)), "message")
    yield _fact("keyed", f"{counted(sets, 'set')} in {messages}")
    yield _fact("right", f"{int(measured.get('right', 0)):,} of {sets:,} sets")
    for label, name, digits in (
        ("bits per set", "bits_per_set", 3),
        ("bits per set as reported", "reported_bits_per_set", 3),
        ("bits per template of a message", "bits_per_mention", 3),
        ("Brier score of pairs", "brier", 4),
        ("reliability error of pairs", "pair_reliability_error", 4),
        ("… of listed configurations", "configuration_reliability_error", 4),
        ("CoNLL score", "conll", 4),
    ):
        if isinstance(measured.get(name), int | float):
            yield _fact(label, f"{measured[name]:.{digits}f}{_spread(measured, name, digits)}")


def _spread(measured: Mapping[str, Any], name: str, digits: int) -> str:
    """An interval of 95 %, over messages."""
    found = (measured.get("intervals") or {}).get(name)
    if not isinstance(found, Mapping):
        return ""
    return f" ({found['low']:.{digits}f} to {found['high']:.{digits}f})"


def _fact(name: str, value: str) -> Html:
    return element("tr", element("th", name), element("td", value))


def _sizes(measured: Mapping[str, Any]) -> Html:
    rows = measured.get("sizes") or ()
    if not rows:
        return joined([])
    titles = ("templates in the set", "sets", "right", "bits per set")
    head = element("tr", *(element("th", name, class_="number") for name in titles))
    told = [
        (one["size"], f"{one['sets']:,}", f"{one['right']:,}", _bits(one["bits_per_set"]))
        for one in rows
    ]
    lines = (element("tr", *(element("td", x, class_="number") for x in row)) for row in told)
    return element("table", element("thead", head), element("tbody", joined(lines)), class_="sizes")


def _bits(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
