"""The domain as commands use it: events and their participants, and answers to the exam."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from partita.core import FloatArray, IntArray, Message, Template
from partita.domains import OutputFormat, ParameterText, RuleDomain, content_hash
from partita.pairs.characteristics import EXTENDED, Characteristic
from partita.pairs.columns import TemplateColumns
from partita.pairs.models import MaximumEntropy, PairModel
from partita.pipeline import Stages
from partita.templates.entity_types import Hierarchy
from partita.text.gazetteer import Gazetteer, read_gazetteer
from partita.training.parameter_files import PairParameters, shipped_pair_parameters, training_of
from partita_incidents.answers import answer_reading, probable_incidents
from partita_incidents.cases import message_context
from partita_incidents.characteristics import EVENTS
from partita_incidents.event_templates import EVENT_TYPE, event_templates, participants
from partita_incidents.exam_files import format_templates as answers_text
from partita_incidents.incident_models import KIND, IncidentModels, parse_models
from partita_incidents.merging import (
    MODEL,
    Merge,
    ProbabilisticMerge,
    merge_compatible,
)
from partita_incidents.readings import Reading, find_events, read_story
from partita_incidents.stories import Story, stories


@dataclass(frozen=True, slots=True, eq=False)
class IncidentPairModel:
    """A pair model for events, and another for their participants."""

    events: MaximumEntropy
    participants: MaximumEntropy
    model: str = MODEL

    def model_for(self, templates: Sequence[Template]) -> MaximumEntropy:
        """Return the model for templates of one coreference set."""
        are_events = any(template.type == EVENT_TYPE for template in templates[:1])
        return self.events if are_events else self.participants

    def pair_probabilities(
        self, columns: TemplateColumns, left: IntArray, right: IntArray
    ) -> FloatArray:
        return self.model_for(columns.templates).pair_probabilities(columns, left, right)


class IncidentDomain(RuleDomain):
    """Terrorist incidents, extracted by rules and trained models."""

    computed_from_parameters = (*RuleDomain.computed_from_parameters, "models")
    unsupported_models = ("joint",)
    output_formats = (
        OutputFormat("muc", "answers to the MUC-4 exam", rb"0\. ", "incidents", MODEL),
    )

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder)
        self.parameter_file = self.folder / "parameters.json"
        self.gazetteer: Gazetteer | None = None
        self.gazetteer_file: Path | None = None
        self._last_reading: tuple[Message, IncidentModels, Reading] | None = None
        self._last_incidents: tuple[Reading, list[dict[str, object]]] | None = None

    @property
    def characteristics(self) -> tuple[Characteristic, ...]:
        return (*EXTENDED, *EVENTS)

    @property
    def fingerprint(self) -> str:
        if self.gazetteer_file is None:
            return super().fingerprint
        return content_hash([super().fingerprint.encode(), self.gazetteer_file.read_bytes()])

    @cached_property
    def models(self) -> IncidentModels:
        """Return the models that read messages and fill slots."""
        return parse_models(self.parameter_text, str(self.parameter_file))

    @cached_property
    def pair_parameters(self) -> PairParameters:
        """Return the parameters of the models over pairs of events."""
        return self.models.pairs

    @property
    def parameters(self) -> ParameterText:
        return ParameterText(KIND, self.parameter_text, self.models.learned_from)

    def pair_model(self, model: str) -> PairModel:
        participants = shipped_pair_parameters().pair_model(training_of(model))
        events = self.pair_parameters.pair_model(training_of(model))
        return IncidentPairModel(events, participants, model)

    def with_gazetteer(self, path: str | Path) -> Self:
        other = copy(self)
        other.gazetteer, other.gazetteer_file = read_gazetteer(path), Path(path)
        other._last_reading = None
        return other

    def extract(self, message: Message) -> Sequence[Template]:
        """Extract the events of a message and their participants."""
        reading = self._reading(message)
        events = find_events(reading, self.models.reading)
        types = self.schema.types or Hierarchy()
        return (
            *event_templates(message_context(reading), events),
            *participants(reading, events, types),
        )

    def formatted(self, name: str, message: Message, stages: Stages) -> tuple[str, int]:
        """Return the incidents of a message in the format of the MUC-4 exam."""
        incidents = answer_reading(self._reading(message), self.models, self._merge(stages))
        return "".join(answers_text([(message.id, incidents)])), len(incidents)

    def _merge(self, stages: Stages) -> Merge | None:
        """Return how a model merges events: greedy by agreement, scaled as in training, and the
        others by their most probable configuration."""
        model = stages.pairs.model if isinstance(stages.pairs, IncidentPairModel) else ""
        if model == MODEL:
            return None
        if model == "greedy":
            return merge_compatible
        assert stages.pairs is not None  # as with the joint model, which is not supported
        return ProbabilisticMerge(stages.pairs, stages.solve)

    def incidents(self, message: Message) -> list[dict[str, object]]:
        """Return the incidents of a message with the probabilities of their fills."""
        reading, last = self._reading(message), self._last_incidents
        if last is None or last[0] is not reading:
            found = probable_incidents(reading, self.models)
            last = self._last_incidents = reading, [incident.json() for incident in found]
        return last[1]

    def additions(self, message: Message) -> dict[str, list[dict[str, object]]]:
        return {"incidents": self.incidents(message)}

    def notes(self, message: Message, templates: Sequence[Template]) -> Iterable[str]:
        """Say how much of a text was understood; of one without incidents that is nothing."""
        return super().notes(message, templates if self.incidents(message) else ())

    def _reading(self, message: Message) -> Reading:
        """Return the reading of a message; that of the last one is kept."""
        last = self._last_reading
        if last is None or last[0] is not message or last[1] is not self.models:
            last = message, self.models, read_story(self._story(message), self.models.reading)
            self._last_reading = last
        return last[2]

    def _story(self, message: Message) -> Story:
        return next(stories([message], self.extractor, self.gazetteer))


domain = IncidentDomain(Path(__file__).parent)
