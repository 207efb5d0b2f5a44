"""Systems side by side."""

from __future__ import annotations

from partita_incidents.exam_templates import Fill, Incident
from partita_incidents.score import score
from partita_incidents.views import systems_markdown

FILLS = {4: (Fill(("ARSON",)),), 12: (Fill(("BANK",)),)}
KEY = Incident("M", "1", {**FILLS, 18: (Fill(("ANA LOPEZ",)),)})
HALF = Incident("M", "1", FILLS)


def test_the_best_comes_first_and_the_first_is_compared() -> None:
    scores = {
        name: score(["M"], given, [KEY])
        for name, given in {"half": [HALF], "none": [], "all": [KEY]}.items()
    }
    lines = systems_markdown(scores).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:5]] == ["| all", "| half", "| none"]
    assert "| hum-tgt-name | 0.0 | 0.0 | 0.0 | 100.0 (all) | 50.0 |" in lines
    assert "| inc-type | 100.0 | 100.0 | 100.0 | 100.0 (all) | 50.0 |" in lines
