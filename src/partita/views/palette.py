"""The colours of the page, of reports, plots and notebooks, and the style sheet of reports."""

from __future__ import annotations

import re
from pathlib import Path

SHEET = Path(__file__).parents[1] / "web/page/style/palette.css"
COLOURS = SHEET.read_text(encoding="utf-8").partition("*/")[2].strip()
CELLS = COLOURS.count("\n.cell-")  # colours for cells, entities and categories

_LIGHT: dict[str, str] = dict(
    re.findall(r"--([\w-]+): (#[0-9a-f]{6});", COLOURS.partition("@media")[0])
)


def colour(name: str) -> str:
    """Return a colour of the light scheme, such as `accent`, as #rrggbb."""
    return _LIGHT[name]


def tinted(name: str, share: float) -> str:
    """Return a colour as rgba, with `share` as its opacity."""
    red, green, blue = (int(colour(name)[n : n + 2], 16) for n in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:.3f})"


_CLASSES = "".join(
    f".c{n}{{background:var(--tint-{n});--line:var(--line-{n})}}\n" for n in range(CELLS)
)

_PAGE = """
* { box-sizing: border-box }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--surface); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
main, footer { max-width: 66rem; margin: 0 auto; padding: 0 1.25rem }
header { display: flex; flex-wrap: wrap; gap: .25rem 2rem; align-items: baseline;
  padding: 1.75rem 0 .75rem; border-bottom: 2px solid var(--ink); margin-bottom: 1.25rem }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem }
h3 { font-size: 1rem; margin: 0 0 .5rem }
h4 { font-size: .95rem; margin: 1.25rem 0 .25rem }
nav { display: flex; gap: 1rem }
a { color: var(--accent); text-decoration: none } a:hover { text-decoration: underline }
small, .quiet, .note { color: var(--quiet) }
small { font-weight: 400; font-size: .85em } h1 small { font-size: .62em }
.note { font-size: .85rem; margin: .25rem 0 .75rem }
.left-out { color: var(--quiet); font-style: italic; margin: .4rem 0 }
.warning { color: var(--warm-ink) }
p.warning { background: var(--warm); padding: .3rem .6rem; border-radius: .3rem }
footer { color: var(--quiet); font-size: .85rem; margin: 3rem auto 2rem }
"""

_TABLES = """
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .22rem .8rem .22rem 0 }
th { font-weight: 500; color: var(--quiet) }
td { overflow-wrap: anywhere }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.drawn { width: 34%; min-width: 4rem; padding-right: 0; vertical-align: middle }
.facts th { white-space: nowrap; width: 1% }
.index { font-size: .92rem }
.index thead th, .entities thead th { border-bottom: 1px solid var(--rule) }
.index tbody tr:nth-child(even) { background: var(--sunken) }
.index td:first-child { padding-left: .4rem } .index th:first-child { padding-left: .4rem }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem }
.tiles div { flex: 1 1 7rem; background: var(--sunken); border-radius: .5rem; padding: .6rem .9rem }
.tiles b { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums }
.tiles span { color: var(--quiet) }
"""

_MESSAGE = """
article { border-top: 1px solid var(--rule); padding-top: 1.25rem; margin-top: 2rem }
article > h3 { font-size: 1.15rem; overflow-wrap: anywhere }
.message { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--sunken);
  border-radius: .5rem; padding: .8rem 1rem; unicode-bidi: isolate;
  font: 14px/2 ui-monospace, "SFMono-Regular", "DejaVu Sans Mono", Menlo, Consolas, monospace }
.expressions { list-style: none; margin: 0; padding: 0; line-height: 2 }
.expressions li { display: inline-block; margin-right: .6rem }
mark { color: inherit; background: none; border-radius: .2rem; padding: .1em 0;
  box-shadow: 0 2px 0 var(--line); -webkit-box-decoration-break: clone;
  box-decoration-break: clone }
mark.none { box-shadow: none; border-bottom: 1px dotted var(--quiet) }
mark.single { background: none; box-shadow: none; border-bottom: 1px solid var(--quiet) }
mark.d1 { padding-bottom: .3em } mark.d2 { padding-bottom: .5em } mark.d3 { padding-bottom: .7em }
mark sub { font: 600 .68em/1 system-ui, sans-serif; color: var(--line); margin-left: .15em;
  vertical-align: -.25em; user-select: none }
mark.single sub { color: var(--quiet) }
.chip { display: inline-block; border-radius: .25rem; padding: 0 .4em; margin: .08rem .1rem;
  border: 1px solid var(--line, var(--rule)); font-size: .85em; line-height: 1.5;
  font-variant-numeric: tabular-nums }
.chip.single { border-color: var(--quiet) } .chip.none { border: 1px dotted var(--quiet) }
.cell { display: inline-block; border-radius: .45rem; background: var(--sunken);
  border: 1px solid var(--rule); padding: 0 .12rem; margin: .08rem .35rem .08rem 0 }
"""

_SETS = """
.set { border: 1px solid var(--rule); border-radius: .5rem; padding: .5rem .9rem; margin: .9rem 0 }
summary { cursor: pointer; overflow-wrap: anywhere } .set > summary { color: var(--quiet) }
.set > summary b { color: var(--ink) }
.configurations { margin: .5rem 0 .25rem } .configurations td { vertical-align: middle }
.configurations .drawn { width: 36%; min-width: 5rem } .configurations .rest { color: var(--quiet) }
.key { background: var(--ink); color: var(--surface); border-radius: .25rem; padding: 0 .4em;
  font-size: .8em; white-space: nowrap }
figure { margin: 0; max-width: 100% } figcaption { color: var(--quiet); font-size: .85rem }
.entities { font-size: .92rem; margin-bottom: 1rem } .entities td { padding-top: .35rem }
.entities td:nth-child(1) { width: 26% } .entities td:nth-child(2) { width: 18% }
.share-of-cell { width: 15%; font-variant-numeric: tabular-nums }
.entities tbody tr + tr td { border-top: 1px solid var(--rule) }
.slot { display: inline-block; margin-right: 1.1rem }
.unknown { font-style: italic; color: var(--quiet) }
.entities .number { color: var(--quiet); font-size: .9em }
"""

_DRAWINGS = """
svg { display: block; max-width: 100% } svg.plot { height: auto }
.bar { width: 100%; height: .75rem; border-radius: .15rem }
.track { fill: var(--sunken) } .share { fill: var(--accent) } .rest { fill: var(--edge) }
.rest td .rest, rect.rest { fill: var(--edge) }
.whisker { stroke: var(--ink); stroke-width: 1.5; vector-effect: non-scaling-stroke }
svg text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink) }
svg text.tick, svg text.axis { fill: var(--quiet) }
.grid { stroke: var(--rule) }
.ideal { stroke: var(--quiet); stroke-dasharray: 4 3 }
.curve { fill: none; stroke: var(--accent); stroke-opacity: .5 }
.dot { fill: var(--accent); fill-opacity: .75; stroke: var(--surface) }
"""

_NARROW = """
@media (max-width: 40rem) {
  main, footer { padding: 0 .8rem }
  .message { font-size: 12.5px; padding: .6rem .7rem }
  .set { padding: .4rem .6rem }
  .configurations .drawn { width: 26% }
  .index th:nth-child(4), .index td:nth-child(4) { display: none }
  .entities thead { display: none } .entities tr { display: block; padding: .4rem 0 }
  .entities td { display: block; width: auto !important; border: 0 !important; padding: .1rem 0 }
  .entities tbody tr + tr { border-top: 1px solid var(--rule) }
}
"""

_PRINT = """
@page { margin: 14mm 13mm }
@media print {
  body { font-size: 10pt } main, footer { max-width: none; padding: 0 }
  nav { display: none } a { color: inherit }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact }
  h2, h3, h4, summary, figcaption { break-after: avoid }
  tr, figure, .tiles, .message { break-inside: avoid }
  thead { display: table-header-group }
  .set::details-content { content-visibility: visible; block-size: auto }
  #details { break-before: page } .message { font-size: 9pt }
  .set { border: 0; border-left: 3px solid var(--rule); border-radius: 0 }
}
"""

STYLE = "".join((COLOURS, _PAGE, _TABLES, _MESSAGE, _CLASSES, _SETS, _DRAWINGS, _NARROW, _PRINT))
