"""Choose the constants of the level anew, each leaving families of the panel out.

    python -m research.panel_constants FOLDER TREES [--only NAME]

For every set and every other value of a constant, the records are linked again; TREES (the folder
of research/panel_records.py) gets the F1 of each as constants-NAME.json, and what is there is not
made again. Then every family gets, of each constant, the value that is best in the mean of the
other families, unless the gain is less than LEAST, and is linked with these values together.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np

from partita.linkage.pair_trees import PairTrees
from research.panel_records import RememberingEngine, linked_figures, opened
from research.train_pair_trees import FAMILIES, PanelSet, read_panel

LEAST = 0.001  # of the mean F1, for which a value is changed
ENGINE, LEVEL = "partita.linkage.nearest_engine", "partita.linkage.match_level"
OF_ALL = {
    (ENGINE, "MIXED"): (0.4, 0.8),
    (ENGINE, "SLOPE"): (0.35, 0.5),
    (ENGINE, "SURE"): (0.5, 2.0),
    ("partita.app.cluster", "MIN_MERGE_PROBABILITY"): (0.35, 0.45),
}
OF_ONE_TABLE = {(LEVEL, "CONSISTENT"): (0.3, 0.5), (LEVEL, "PAIRED"): (0.2, 0.4)}
OF_SEVERAL = {
    (LEVEL, "AGREED"): (1.25, 2.0),
    (LEVEL, "MOST"): (0.4, 0.6),
    (LEVEL, "REPEATED"): (0.4, 0.7),
    (LEVEL, "TWINS"): (0.07, 0.15),
}
EVERY = OF_ALL | OF_ONE_TABLE | OF_SEVERAL
Choice = Mapping[tuple[str, str], float]
Found = dict[str, float]  # F1 by constant and value, "" as shipped


@contextmanager
def set_to(choice: Choice) -> Iterator[None]:
    """Give constants of modules other values for a while."""
    shipped = {key: getattr(import_module(key[0]), key[1]) for key in choice}
    try:
        for (module, name), value in choice.items():
            setattr(import_module(module), name, value)
        yield
    finally:
        for (module, name), value in shipped.items():
            setattr(import_module(module), name, value)


def f1_with(one: PanelSet, engine: RememberingEngine, choice: Choice) -> float:
    """Return the F1 of a set with other constants."""
    with set_to(choice):
        return linked_figures(one, engine.again(), time.process_time()).f1


def looked(one: PanelSet, engine: RememberingEngine) -> Found:
    """Return the F1 of a set as shipped, and with each other value of each constant."""
    grid = OF_ALL | (OF_SEVERAL if len(one.tables) > 1 else OF_ONE_TABLE)
    others = {f"{key[1]} {value}": f1_with(one, engine, {key: value})
              for key, values in grid.items() for value in values}  # fmt: skip
    return {"": f1_with(one, engine, {})} | others


def chosen(found: Mapping[str, Found], family: str) -> dict[tuple[str, str], float]:
    """Return the constants that the other families change."""
    others = sorted({one for one in FAMILIES.values() if one != family})
    choice: dict[tuple[str, str], float] = {}
    for key, values in EVERY.items():
        gains = [
            np.mean([np.mean([f1.get(f"{key[1]} {value}", f1[""]) - f1[""]
                              for name, f1 in found.items() if FAMILIES[name] == other])
                     for other in others if other in {FAMILIES[name] for name in found}])
            for value in values
        ]  # fmt: skip
        if max(gains) >= LEAST:
            choice[key] = values[int(np.argmax(gains))]
    return choice


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of the sets of records")
    parser.add_argument("trees", type=Path, help="folder of the models without a family")
    parser.add_argument("--only", action="append", default=[], help="a set; repeatable")
    given = parser.parse_args()
    names: Sequence[str] = given.only or [*FAMILIES]
    engines: dict[str, tuple[PanelSet, RememberingEngine]] = {}

    def engine_of(name: str) -> tuple[PanelSet, RememberingEngine]:
        if name not in engines:
            one = read_panel(name, given.folder)
            model = json.loads((given.trees / f"without-{one.family}.json").read_text("utf-8"))
            engines[name] = one, opened(one, PairTrees.from_dict(model))
        return engines[name]

    found: dict[str, Found] = {}
    for name in names:
        path = given.trees / f"constants-{name}.json"
        if not path.exists():
            path.write_text(json.dumps(looked(*engine_of(name)), indent=1), encoding="utf-8")
        found[name] = json.loads(path.read_text("utf-8"))
    print(
        "| set | F1 | F1 with constants of the other families | these |\n| --- | --- | --- | --- |"
    )
    for name in names:
        choice = chosen(found, FAMILIES[name])
        own = f1_with(*engine_of(name), choice) if choice else found[name][""]
        shown = ", ".join(f"{key[1]} {value}" for key, value in choice.items()) or "as shipped"
        print(f"| {name} | {found[name]['']:.3f} | {own:.3f} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
