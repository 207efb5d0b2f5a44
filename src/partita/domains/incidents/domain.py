"""The domain as commands use it: events and their participants, and answers to the exam."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from partita.corpora.muc import format_templates as answers_text
from partita.domains import ParameterText, RuleDomain, content_hash
from partita.domains.incidents.cases import message_context
from partita.domains.incidents.characteristics import EVENTS
from partita.domains.incidents.event_templates import SORT, event_templates, participants
from partita.domains.incidents.gazetteer import Gazetteer, read_gazetteer
from partita.domains.incidents.incident_models import KIND, IncidentModels, parse_models
from partita.domains.incidents.merging import ProbabilisticMerge
from partita.domains.incidents.readings import find_events, read_story
from partita.domains.incidents.screening import answer_story
from partita.domains.incidents.stories import Story, stories
from partita.pairs.characteristics import Characteristic
from partita.pairs.columns import Columns
from partita.pairs.extended import EXTENDED
from partita.pairs.models import MaximumEntropy, PairModel
from partita.pipeline import Stages
from partita.records import FloatArray, IntArray, Message, Template
from partita.templates.sorts import Hierarchy
from partita.training.pair_parameters import PairParameters, training_of
from partita.training.parameter_files import shipped_pair_parameters


@dataclass(frozen=True, slots=True, eq=False)
class IncidentPairModel:
    """A pair model for events, and another for their participants."""

    events: MaximumEntropy
    participants: MaximumEntropy

    def model_for(self, templates: Sequence[Template]) -> MaximumEntropy:
        """Return the model for templates of one coreference set."""
        are_events = any(template.sort == SORT for template in templates[:1])
        return self.events if are_events else self.participants

    def pair_probabilities(self, columns: Columns, left: IntArray, right: IntArray) -> FloatArray:
        return self.model_for(columns.templates).pair_probabilities(columns, left, right)


class IncidentDomain(RuleDomain):
    """Terrorist incidents, extracted by rules and trained models."""

    computed_from_parameters = (*RuleDomain.computed_from_parameters, "models")
    unsupported_models = ("joint",)
    output_formats = ("jsonl", "muc")

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder)
        self.parameter_file = self.folder / "parameters.json"
        self.gazetteer: Gazetteer | None = None
        self.gazetteer_file: Path | None = None

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
        return IncidentPairModel(self.pair_parameters.pair_model(training_of(model)), participants)

    def with_gazetteer(self, path: str | Path) -> Self:
        other = copy(self)
        other.gazetteer, other.gazetteer_file = read_gazetteer(path), Path(path)
        return other

    def extract(self, message: Message) -> Sequence[Template]:
        """Extract the events of a message and their participants."""
        reading = read_story(self._story(message), self.models.reading)
        events = find_events(reading, self.models.reading)
        sorts = self.schema.sorts or Hierarchy()
        return (
            *event_templates(message_context(reading), events),
            *participants(reading, events, sorts),
        )

    def answers(self, message: Message, stages: Stages) -> str:
        """Return the incidents of a message in the format of the MUC-4 exam."""
        merge = ProbabilisticMerge(stages.pairs, stages.solve)
        incidents = answer_story(self._story(message), self.models, merge)
        return "".join(answers_text([(message.id, incidents)]))

    def _story(self, message: Message) -> Story:
        return next(stories([message], self.extractor, self.gazetteer))


domain = IncidentDomain(Path(__file__).parent)
