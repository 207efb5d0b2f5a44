"""The joint model in the experiment: learned there, or given."""

from __future__ import annotations

from dataclasses import dataclass

from partita.configurations.joint.model import JointModel
from partita.evaluation.models import OfDocuments
from partita.learning.joint import joint_posterior, train_joint
from partita.records import Document, Posterior


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """A joint model as something that answers for documents."""

    model: JointModel
    seed: int = 0

    def posterior(self, document: Document) -> Posterior:
        return joint_posterior(document.templates, self.model, seed=self.seed)


def joint(given: JointModel | None = None, seed: int = 0, name: str = "joint") -> OfDocuments:
    """A row of the table: the given model, such as the shipped one, or one learned from the
    training documents."""
    return OfDocuments(
        name, lambda documents: Joint(given or train_joint(documents, seed=seed), seed)
    )
