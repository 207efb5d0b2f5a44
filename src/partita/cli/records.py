"""The commands on tables of records: cluster and link."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options
from partita.cli.console import error_boundary

if TYPE_CHECKING:
    from partita.app.cluster import Clusters
    from partita.cli.console import Console
    from partita.core import Budget

Scores = Annotated[
    str,
    typer.Argument(
        metavar="SCORES",
        help="CSV, JSONL or Parquet with Splink's columns, left,right,probability or "
        "id_1,id_2,score; - reads stdin.",
    ),
]
Records = Annotated[
    Path | None,
    typer.Option(metavar="F", help="Table of all records (CSV, JSONL or Parquet)."),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COL", show_default="id or unique_id", help="Id column of --records."
    ),
]
LeftColumn = Annotated[
    str | None, typer.Option("--left", metavar="COL", help="Column of the first id.")
]
RightColumn = Annotated[
    str | None, typer.Option("--right", metavar="COL", help="Column of the second id.")
]
ScoreColumn = Annotated[
    str | None, typer.Option("--score", metavar="COL", help="Column of the score, from 0 to 1.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="F", help="Write record,cluster,membership,exact (.csv, .jsonl or .parquet)."
    ),
]
Alternatives = Annotated[
    Path | None,
    typer.Option(metavar="F", help="Write the next best split or merge of each cluster."),
]
PairsOut = Annotated[
    Path | None,
    typer.Option("--pairs", metavar="F", help="Write the probability of each compared pair."),
]
Review = Annotated[
    Path | None,
    typer.Option(metavar="F", help="Write the pairs to review, the most useful first."),
]
PreviousIn = Annotated[
    Path | None,
    typer.Option(
        "--previous", metavar="F", help="Clusters of an earlier run (its --out), whose ids persist."
    ),
]
PreviousScores = Annotated[
    Path | None,
    typer.Option(
        metavar="F",
        help="Scores of the earlier run; SCORES are added, and only what they touch is solved.",
    ),
]
ChangesOut = Annotated[
    Path | None,
    typer.Option(
        "--changes",
        metavar="F",
        help="Write what happened since --previous: created, grown, split, merged.",
    ),
]
Explained = Annotated[
    tuple[str, str] | None,
    typer.Option("--explain", metavar="A B", help="Explain why two records are together or not."),
]
LabelsIn = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="F",
        help="Judged pairs (left,right,same) or clusters (id,cluster): they hold exactly and "
        "calibrate the model.",
    ),
]
LinkAbove = Annotated[
    float,
    typer.Option(metavar="P", callback=options.share, help="Scores up to P connect no clusters."),
]
TargetPrecision = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        callback=options.share,
        help="Merge only so far that the share of right pairs is expected to reach P, e.g. .99.",
    ),
]
Draws = Annotated[
    int | None,
    typer.Option(
        "--work", metavar="N", min=1, show_default="250", help="Draws for each large set."
    ),
]


Tables = Annotated[
    list[Path],
    typer.Argument(
        metavar="RECORDS...",
        help="CSV, JSONL, Parquet or Arrow files of records; several are linked.",
    ),
]
UniqueId = Annotated[
    str | None,
    typer.Option(
        metavar="COL", show_default="id, unique_id, rec_id, …", help="Column of unique ids."
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Column that is not compared; repeatable."),
]
SettingsIn = Annotated[
    Path | None,
    typer.Option("--settings", metavar="F", help="Splink settings or a trained model (JSON)."),
]
SettingsOut = Annotated[
    Path | None,
    typer.Option(metavar="F", help="Write the trained model as Splink settings (JSON)."),
]
OneToOne = Annotated[
    bool, typer.Option("--one-to-one", help="No file has duplicates of its own records.")
]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(cluster)
    app.command()(link)


def cluster(
    scores: Scores,
    records: Records = None,
    id_column: IdColumn = None,
    left: LeftColumn = None,
    right: RightColumn = None,
    score: ScoreColumn = None,
    out: Out = None,
    alternatives: Alternatives = None,
    pairs: PairsOut = None,
    review: Review = None,
    previous: PreviousIn = None,
    previous_scores: PreviousScores = None,
    changes: ChangesOut = None,
    excel_safe: options.ExcelSafe = False,
    target_precision: TargetPrecision = None,
    link_above: LinkAbove = 1e-4,
    labels: LabelsIn = None,
    assume: options.Assume = None,
    parameters: options.Parameters = None,
    explain: Explained = None,
    chart: options.Chart = None,
    json: options.JsonReport = False,
    memory: options.Memory = None,
    work: Draws = None,
    seed: options.Seed = 0,
) -> None:
    """Cluster records by pair scores, with probabilities.

    Scores are evidence: 0 and 1 are strong, never certain. Records that were not
    compared are probably different, not certainly. Every record of --records is in
    the output.

    \b
    Examples:
      partita cluster scores.parquet --records people.csv --out clusters.csv
      partita cluster scores.csv --out clusters.csv --review questions.csv
      partita cluster scores.csv --target-precision .99 --out clusters.csv
      partita cluster new.csv --previous clusters.csv --previous-scores scores.csv \\
        --changes changes.csv --out clusters-2.csv
    """
    with error_boundary() as console:
        from partita.app.cluster import cluster as cluster_records

        files = {"clusters": out, "alternatives": alternatives, "pairs": pairs, "review": review}
        files |= _changes_file(changes, previous)
        inputs: list[str | Path | None] = [scores, records, parameters, labels, previous]
        _check_outputs(files, [*inputs, previous_scores])
        clusters = cluster_records(
            scores if scores == "-" else Path(scores),
            records,
            unique_id=id_column,
            columns=(left, right, score),
            target_precision=target_precision,
            link_above=link_above,
            labels=labels,
            assume=assume or (),
            parameters=parameters,
            previous=previous,
            previous_scores=previous_scores,
            budget=_budget(memory, work),
            seed=seed,
            progress=console.progress,
            note=lambda text: _note(console, text),
        )
        _write(clusters, files, excel_safe)
        _show(console, clusters, files, json, explain, chart)


def link(
    records: Tables,
    unique_id: UniqueId = None,
    ignore: Ignore = None,
    settings: SettingsIn = None,
    settings_out: SettingsOut = None,
    one_to_one: OneToOne = False,
    out: Out = None,
    alternatives: Alternatives = None,
    pairs: PairsOut = None,
    review: Review = None,
    previous: PreviousIn = None,
    changes: ChangesOut = None,
    excel_safe: options.ExcelSafe = False,
    target_precision: TargetPrecision = None,
    link_above: LinkAbove = 0.01,
    labels: LabelsIn = None,
    assume: options.Assume = None,
    parameters: options.Parameters = None,
    explain: Explained = None,
    chart: options.Chart = None,
    json: options.JsonReport = False,
    memory: options.Memory = None,
    work: Draws = None,
    seed: options.Seed = 0,
) -> None:
    """Deduplicate a table of records, or link several.

    Splink compares the records. By default the columns are compared as their
    headers and values suggest, and the model is trained without labels. Every
    record is in the output. Needs: pip install 'partita[link]'

    \b
    Examples:
      partita link people.csv --out clusters.csv
      partita link people.csv --settings-out model.json --review questions.csv
      partita link people.csv --out clusters.csv --explain 3 17 --chart why.svg
      partita link clinic.csv register.parquet --one-to-one --out clusters.csv
    """
    with error_boundary() as console:
        from partita.app.link import link as link_records

        files = {"clusters": out, "alternatives": alternatives, "pairs": pairs, "review": review}
        files |= _changes_file(changes, previous)
        inputs: list[str | Path | None] = [*records, settings, parameters, labels, previous]
        _check_outputs(files, inputs, settings_out)
        clusters = link_records(
            list(records),
            unique_id=unique_id,
            ignore=ignore or (),
            settings=settings,
            one_to_one=one_to_one,
            target_precision=target_precision,
            link_above=link_above,
            labels=labels,
            assume=assume or (),
            parameters=parameters,
            previous=previous,
            budget=_budget(memory, work),
            seed=seed,
            progress=console.progress,
            note=lambda text: _note(console, text),
        )
        _write(clusters, files, excel_safe)
        if settings_out is not None:
            _write_settings(settings_out, clusters.settings)
        _show(console, clusters, files, json, explain, chart)


def _note(console: Console, text: str) -> None:
    """Write a note in lines of at most 80 columns."""
    from textwrap import wrap

    for line in wrap(
        text, 71, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    ):
        console.note(line)


def _budget(memory: str | None, work: int | None) -> Budget:
    from partita.core import Budget

    return Budget(memory=options.memory_limit(memory), work=work)


def _changes_file(changes: Path | None, previous: Path | None) -> dict[str, Path | None]:
    if changes is not None and previous is None:
        raise typer.BadParameter("--changes needs --previous")
    return {} if changes is None else {"changes": changes}


def _write_settings(path: Path, settings: dict[str, Any]) -> None:
    import json

    from partita.files.writing import write_atomically

    write_atomically(path, json.dumps(settings, indent=2) + "\n")


def _check_outputs(
    files: dict[str, Path | None],
    inputs: list[str | Path | None],
    settings_out: Path | None = None,
) -> None:
    from partita.errors import InputError
    from partita.files.writing import refuse_inputs
    from partita.tables.writing import check_suffix

    seen: dict[Path, str] = {}
    for name, path in {**files, "settings": settings_out}.items():
        if path is None:
            continue
        if name in files:
            check_suffix(path)
        refuse_inputs(path, inputs)
        if (other := seen.setdefault(path.resolve(), name)) != name:
            raise InputError(f"is named for {other} and for {name}", file=str(path))


def _write(clusters: Clusters, files: dict[str, Path | None], excel_safe: bool) -> None:
    from partita.tables.writing import write_table

    for name, path in files.items():
        if path is not None:
            write_table(path, clusters.columns(name), excel_safe=excel_safe)


def _show(
    console: Console,
    clusters: Clusters,
    files: dict[str, Path | None],
    as_json: bool,
    explained: tuple[str, str] | None,
    chart: Path | None,
) -> None:
    from partita.app.explain import explain
    from partita.views.clusters import summary_text, written_text

    found = None if explained is None else explain(clusters, *explained)
    if found is not None and chart is not None:
        found.save_chart(chart)
    if as_json:
        import json

        more = {} if found is None else {"explanation": found.to_dict()}
        console.say(json.dumps(clusters.summary.to_dict() | more) + "\n")
    else:
        console.say(summary_text(clusters.summary) + written_text(files))
        if found is not None:
            console.say(f"\n{found}")
    console.flush()
