"""The genres of GUM whose texts are free: what the shipped joint model is learned from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from partita.configurations.joint_model import JointModel
from partita.learning.joint import Progress, train_joint
from partita.records import Document

FREE = (
    "academic", "bio", "court", "interview", "news", "speech", "textbook", "vlog", "voyage",
)  # fmt: skip


def free_documents(documents: Iterable[Document]) -> list[Document]:
    """The documents of the free genres."""
    return [document for document in documents if document.genre in FREE]


def learn_shipped(
    documents: Sequence[Document], *, seed: int = 0, progress: Progress | None = None
) -> JointModel:
    """The joint model as it is shipped, from the documents of GUM's training part."""
    chosen = free_documents(documents)
    words = f"GUM, training part, {len(chosen)} documents of the genres {', '.join(FREE)}"
    return train_joint(chosen, seed=seed, learned_from=words, progress=progress)
