"""How routes are described: what they answer, and the errors that any of them may have."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator

from partita.service.desk import Desk

ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
ERRORS = {
    400: "The request is not HTTP or JSON as it should be.",
    401: "The token is wrong or missing.",
    404: "There is nothing of that name.",
    413: "The request is too large.",
    422: "Something in the request is not as it should be.",
    429: "Too many are waiting.",
    503: "The store or the processes cannot be reached.",
    504: "It took too long.",
}


def _decoded(text: str) -> str:
    """A name in a path arrives as it was sent; it may hold slashes, but nothing that is no text."""
    name = unquote(text, errors="strict")
    return _plain(name)


def _plain(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a zero character")
    return text


def _named(said: str) -> Any:
    return Path(description=f"{said}, URL-encoded (a slash is %2F).", max_length=3000)


async def _desk(request: Request) -> Desk:
    found: Desk = request.app.state.desk
    return found


Here = Annotated[Desk, Depends(_desk)]
Run = Annotated[str, _named("The name of a run"), AfterValidator(_decoded)]
MessageName = Annotated[str, _named("The id of a message"), AfterValidator(_decoded)]
SetName = Annotated[str, _named("The name of a coreference set"), AfterValidator(_decoded)]
Table = Annotated[str, _named("The name of a table"), AfterValidator(_decoded)]
Search = Annotated[
    str, Query(description="Only what holds these words.", max_length=500), AfterValidator(_plain)
]
Word = Annotated[str, Query(max_length=500), AfterValidator(_plain)]
Offset = Annotated[int, Query(ge=0, le=10**9, description="So many are left out first.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="So many at most.")]


def answers(
    said: str, status: int = 200, kind: str = "application/json", like: Any = None
) -> dict[str, Any]:
    """The arguments of a route that say what comes back; `like` is an example."""
    content = {"schema": {"type": "string" if kind != "application/json" else "object"}}
    if like is not None:
        content["example"] = like
        content["schema"] = {"type": "array" if isinstance(like, list) else "object"}
    errors: dict[int | str, dict[str, Any]] = {
        code: {"description": words, "content": {"application/json": {"schema": ERROR}}}
        for code, words in ERRORS.items()
    }
    good: dict[int | str, dict[str, Any]] = {
        status: {"description": said, "content": {kind: content}}
    }
    return {"status_code": status, "responses": good | errors}
