"""What is one token, pattern by pattern: as the English treebanks cut, and as messages write.

Clitics (n't, 's), hyphens between words, currency and per cent are tokens of their own;
abbreviations keep their point, designators (T-62), coordinates, date-time groups and addresses are
one token. Every character that is not white space is in exactly one token. No pattern reads far
ahead without taking what it read, so that time is linear in the length.
"""

from __future__ import annotations

import re

# with their point they are one token
ABBREVIATIONS = frozenset(
    re.findall(
        r"\S+",
        "etc al inc ltd co corp jr sr vs dept approx est "
        "mr mrs ms dr prof gen col lt capt maj sgt cpl cmdr adm brig rev hon gov sen rep pres st "
        "mt ft cf e.g i.e viz "
        "jan feb mar apr jun jul aug sep sept oct nov dec tue tues wed thu thur thurs fri "
        "km mi ave blvd rd hwy bldg",
    )
)
_PREFIXES = (
    "non|pre|post|re|pro|anti|semi|co|ex|e|mid|multi|over|under|vice|counter|ultra|trans|sub"
)

PATTERNS = (
    # a plain word before white space or a comma: most of a text, tried first
    r"(?!(?i:cannot|gonna|wanna|gotta)\b)[^\W\d_]+(?=[\s,;)\]]|$)",
    # addresses
    r"(?i:https?://|www\.)[^\s<>\"()]*[^\s<>\"().,;:!?]",
    r"(?=[\w.+-]{1,200}+@)[\w+-]{1,64}+(?:\.{1,3}[\w+-]{1,64}+){0,8}(?:\.\.\.)?"
    r"@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}",
    r"[\w-]{1,64}+(?:\.[\w-]{1,64}+){0,6}"
    r"\.(?i:com|org|net|edu|gov|mil|int|pdf|docx?|html?|txt|xls)\b",
    # date-time groups, times, coordinates, grids
    r"\d{6}Z ?[A-Z]{3} ?\d{2}\b",
    r"\d{4}Z\b",
    r"\d{2,3}-\d{2}(?:-\d{2}(?:\.\d+)?)?[NSEW]\b",
    r"\d{2,7}(?:\.\d+)?[NS]\d{3,7}(?:\.\d+)?[EW]\b",
    r"\d{1,3}°(?: ?\d{1,2}(?:\.\d+)?['′])?(?: ?\d{1,2}(?:\.\d+)?[\"″])? ?[NSEW]\b",
    r"\d{1,2}[C-HJ-NP-X][A-HJ-NP-Z]{2} ?\d{4,10}\b",
    # designators: T-62, MiG-29, BTR-60PB, SA-2
    r"[A-Za-z]{1,6}-\d+[A-Za-z]{0,3}\b(?!-)",
    # dates with slashes and dashes, fractions, units such as 2/7
    r"\d{1,4}/\d{1,2}/\d{2,4}\b",
    r"\d{4}-\d{2}-\d{2}\b",
    r"\d{1,2}:\d{2}(?::\d{2})?",
    # numbers, ordinals, decades
    r"\d{1,3}(?:,\d{3}){1,6}(?:\.\d+)?(?!\w|,\d)",
    r"\d+(?:st|nd|rd|th|ST|ND|RD|TH|s)\b",
    r"['’]\d{2}s\b",
    r"\d+(?:\.\d+){1,9}(?!\w)",
    r"\d+(?=(?:km|m|mi|nm|ft|cm|mm|kg|kt|kts|mph|kph|hrs?|min|ton|tons|mt|KM|M|MI|NM|FT|MM|KG|MT)\b)",
    r"\d+(?!\w)",
    # clitics
    r"[^\W\d_]+?(?=n['’]t\b|N['’]T\b)",
    r"[nN]['’][tT]\b",
    r"['’](?:s|re|ve|ll|d|m|S|RE|VE|LL|D|M)\b",
    r"(?:can|CAN|Can)(?=not\b|NOT\b)",
    r"(?i:gon|wan|got)(?=(?i:na|ta)\b)",
    # abbreviations
    r"(?:[^\W\d_]\.){2,}",
    rf"\b(?i:{'|'.join(sorted(map(re.escape, ABBREVIATIONS), key=len, reverse=True))})\.",
    r"\b(?i:nos?|figs?|vol|pp?|art)\.(?=\s{0,4}\d)",
    r"\b[A-Z]\.(?=\s{1,4}[A-Z])",
    # words with a prefix, words with digits or points in them, words
    rf"(?i:{_PREFIXES})-[^\W\d_]{{2,}}\b(?!-)",
    r"[^\W_]+(?:_+[^\W_]+)+",
    r"[^\W_]*\d[^\W_]*",
    r"[^\W\d_]+",
    # dots, dashes, rows of one sign
    r"[:;]-?[)(DP](?!\w)",
    r"\.{2,}",
    r"[!?]{2,}",
    r"-{2,}",
    r"_+",
    r"([^\w\s])\1{2,}",
    r"\S",
)

# the ends of words that are cut by what follows the blank behind them: 150430Z MAR 96, 35° 14' N,
# 18STG 1234, J. Smith, No. 4
OPEN_ENDED = re.compile(
    r"\d{6}Z(?:[A-Z]{3})?$|°[^NSEW]*$|\d{1,2}[C-HJ-NP-X][A-HJ-NP-Z]{2}$"
    r"|\b(?:[A-Z]|(?i:nos?|figs?|vol|pp?|art))\.$"
)
