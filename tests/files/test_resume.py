"""Results that are taken up again: nothing whole is lost, nothing cut is kept."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from partita.errors import InputError
from partita.files.resume import finished, growing, locked, refuse_other

RUN = {"text": "t", "model": "evidential", "seed": 0}


def lines(name: str, sets: int = 2, run: dict | None = RUN) -> list[str]:
    written = [{"version": 1, "message": name, "set": f"{name}.{n}"} for n in range(sets)]
    last = {"version": 1, "message": name, "singletons": []}
    written.append(last if run is None else last | {"run": run})
    return [json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in written]


def whole(*names: str) -> bytes:
    return "".join(f"{line}\n" for name in names for line in lines(name)).encode()


def run_over(path: Path, names: list[str]) -> list[str]:
    """A run over these messages: which of them it did."""
    done, did = finished(path), []
    with growing(path, done) as file:
        for name in names:
            if name in done:
                file.keep(name)
            else:
                did.append(name)
                file.add(name, lines(name))
    return did


@given(data=st.data())
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_cut_anywhere_and_taken_up_again(data, tmp_path):
    names = ["é1", "b", "c", "d"]
    full = whole(*names)
    path = tmp_path / "out.jsonl"
    path.write_bytes(full[: data.draw(st.integers(0, len(full)))])
    before = list(finished(path))
    assert before == names[: len(before)]
    assert run_over(path, names) == names[len(before) :]
    assert path.read_bytes() == full
    assert run_over(path, names) == []
    assert path.read_bytes() == full


def test_what_had_failed_gets_its_place(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(whole("a", "c"))
    assert run_over(path, ["a", "b", "c", "d"]) == ["b", "d"]
    assert path.read_bytes() == whole("a", "b", "c", "d")


def test_messages_of_other_inputs_stay(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(whole("x", "a"))
    assert run_over(path, ["a", "b"]) == ["b"]
    assert path.read_bytes() == whole("x", "a", "b")


def test_an_interruption_keeps_what_was_added(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(whole("c")[:-3])

    def interrupted() -> None:
        with growing(path, finished(path)) as file:
            file.add("a", lines("a"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == whole("a")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"left,right,probability\n", "line 1: is not JSON"),
        (b"left,right", "line 1: is not a results line"),
        (b"[1]\n", "line 1: is not a results line"),
        (b'{"version":1,"message":"a\xff"}\n', "line 1: is not UTF-8"),
        (
            "\n".join(lines("a", run=None)).encode() + b"\n",
            "line 3: was not written by partita run",
        ),
        (whole("a") + whole("b")[:30] + b"\n", "line 4: is not JSON"),
        (b"".join(f"{lines(n)[0]}\n".encode() for n in "ab"), "line 2: message a has no end"),
    ],
)
def test_a_file_of_something_else_is_not_touched(content, problem, tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        finished(path)
    assert path.read_bytes() == content


def test_other_settings_are_named(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(whole("a"))
    done = finished(path)
    refuse_other(path, done, {"model": "evidential", "seed": 0})
    with pytest.raises(InputError, match="done with model evidential, and this run has merging"):
        refuse_other(path, done, {"model": "merging", "seed": 0})
    with pytest.raises(InputError, match="done with seed 0, and this run has none"):
        refuse_other(path, done, {"model": "evidential"})


def test_there_may_be_no_file_and_no_folder(tmp_path):
    assert finished(tmp_path / "none.jsonl") == {}
    with (
        pytest.raises(InputError, match="cannot be written: No such file"),
        growing(tmp_path / "no" / "out.jsonl", {}),
    ):
        pass


def test_a_full_disk_leaves_whole_messages(tmp_path):
    path, limits = tmp_path / "out.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill() -> None:
        with growing(path, finished(path)) as file:
            file.add("a", lines("a"))
            file.add("b", lines("b"))

    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole("a")) + 10, limits[1]))
    try:
        with pytest.raises(InputError, match=r"out.jsonl: cannot be written"):
            fill()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == whole("a")


def test_only_one_process_writes_a_file(tmp_path):
    path = tmp_path / "out.jsonl"
    with (
        locked(path),
        pytest.raises(InputError, match="is being written by another process"),
        locked(path),
    ):
        pass
    assert not path.exists()
    path.write_bytes(whole("a"))
    with locked(path):
        assert run_over(path, ["b", "a"]) == ["b"]
    assert path.read_bytes() == whole("b", "a")


def test_results_of_solve_are_not_taken_for_an_unfinished_message(tmp_path):
    path = tmp_path / "out.jsonl"
    solved = '{"version":1,"message":"p.csv","set":"1","unlisted":{"count":0,"probability":0.0}}'
    for content in (solved + "\n", solved[:-2]):
        path.write_text(content)
        with pytest.raises(InputError, match="line 1: was written by partita solve"):
            finished(path)


def test_a_device_remembers_nothing():
    assert finished(os.devnull) == {}
    with growing(Path(os.devnull), {}) as file:
        file.add("a", lines("a"))


@pytest.mark.parametrize("kept", [0, 7, 40])
def test_zeros_that_a_power_cut_left_are_an_unfinished_line(tmp_path, kept):
    path = tmp_path / "out.jsonl"
    path.write_bytes(whole("a") + whole("b")[:kept] + b"\0" * 100)
    assert run_over(path, ["a", "b"]) == ["b"]
    assert path.read_bytes() == whole("a", "b")


def test_at_the_end_the_file_and_its_folder_are_on_the_disk(tmp_path, monkeypatch):
    synced: list[int] = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(number) or sync(number))
    path = tmp_path / "out.jsonl"
    with growing(path, {}) as file:
        for name in "abc":
            file.add(name, lines(name))
        assert synced == []
    assert len(synced) == 2
    assert path.read_bytes() == whole("a", "b", "c")


def test_long_texts_whose_pairs_are_not_all_listed_are_resumed(tmp_path):
    """Their sets say how many pairs are not listed, as those of solve do."""
    path = tmp_path / "out.jsonl"
    line = (
        '{"version":1,"message":"long","set":"long.1","templates":[{"id":"m1","text":"Ann"}],'
        '"unlisted":{"count":3,"probability":0.005},"entities":[]}\n'
    )
    end = '{"version":1,"message":"long","singletons":[],"run":{}}\n'
    path.write_text(line + end + line[:-9])
    assert list(finished(path)) == ["long"]
