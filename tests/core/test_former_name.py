"""Programs that import `partita.records` still work, with a warning that names the new module."""

import subprocess
import sys

import pytest

from partita.core import Entity, Figure, Template

PROGRAM = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from partita.records import Template
    from partita.records.arrays import FloatArray, linked_components
    from partita.records.documents import Message, Region
    from partita.records.keys import Key
    from partita.records.posterior import Figure, Posterior
    from partita.records.tables import Tabular
import partita
assert Template is partita.Template and Key is partita.Key
assert [str(w.message).split(";")[0] for w in caught] == ["partita.records is now partita.core"]
"""


def test_the_former_name_of_core_still_works() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_the_former_name_of_the_type_still_answers() -> None:
    template = Template("T", type="DEPOT")
    entity = Entity("E", "DEPOT", ("T",), "T", Figure.exact(1.0), {})
    for one in (template, entity):
        with pytest.warns(DeprecationWarning, match="sort is now"):
            assert one.sort == one.type == "DEPOT"
