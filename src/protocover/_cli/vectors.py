"""``protocover cover`` for embeddings (.npy) and lists of near pairs, written as Parquet."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .._estimators import BallCover
from .._selection.training import completed
from ..data._pairs import pairs_to_graph
from .console import CommandError, Console, UsageError
from .model import SUMMARY
from .writing import WRITER, fresh_folder, print_lines

_FILES = {
    "representatives.parquet": "the representatives, and how many samples each covers",
    "assignment.parquet": "every sample, its representative and their distance",
    SUMMARY: "all figures",
}
_ONLY_TABLES = ("id", "weights", "candidate_cost", "drop", "feature_type", "image_size", "scale")


def is_vectors(options: Namespace) -> bool:
    """Return whether the data are embeddings or pairs, not a table or images."""
    return bool(options.pairs or options.data.suffix == ".npy")


def cover_vectors(options: Namespace, folder: Path, console: Console) -> None:
    """Choose representatives, and write all files or none."""
    for name in _ONLY_TABLES:
        if getattr(options, name, None):
            raise UsageError(f"--{name.replace('_', '-')} is only valid for tables and images")
    if options.eps == "auto" and options.pairs:
        raise UsageError("--pairs needs --eps, which may not exceed the distances in the list")
    with fresh_folder(folder, force=options.force, inputs=[options.data]) as unfinished:
        started = time.perf_counter()
        X, ids, metric = _read(options)
        console.note(f"Choosing representatives of {len(ids)} samples ...")
        cover = BallCover(
            eps=options.eps,
            max_representatives=options.max_representatives,
            coverage=options.coverage,
            cost=options.cost,
            must_include=_included(options.must_include, ids) or None,
            metric=metric,
            solver=options.solver,
            solver_options=options.time_limit and {"time_limit": options.time_limit},
            closed_ball=options.closed_ball,
            n_jobs=options.n_jobs,
            verbose=console.verbose,
        ).fit(X)
        figures = {
            "written_by": WRITER,
            "version": __version__,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "files": list(_FILES),
            "data": {"source": options.data.name, "samples": len(ids)},
            "distance": "of the pairs" if options.pairs else metric,
            "eps": float(cover.eps_),
            "closed_ball": options.closed_ball,
            "representatives": len(cover.counts_),
            "covered": int(cover.counts_.sum()),
            "coverage": cover.coverage_,
            "objective": cover.objective_,
            "lower_bound": cover.lower_bound_ if np.isfinite(cover.lower_bound_) else None,
            "certificate": cover.certificate_,
            "seconds": round(time.perf_counter() - started, 3),
        }
        _write(unfinished, cover, X, ids, figures)
    console.say(
        f"{figures['representatives']} of {len(ids)} samples are representatives; "
        f"{100.0 * cover.coverage_:.6g} % of the samples lie within {cover.eps_:.6g} of one."
    )
    print_lines(folder, _FILES, console)


def _read(options: Namespace) -> tuple[Any, Any, Any]:
    """Return embeddings or a neighbour graph, the identifiers of the samples, and the metric."""
    if not options.pairs:
        X = np.load(options.data, allow_pickle=False)
        return X, np.arange(len(X)), options.metric or "euclidean"
    if options.metric:
        raise UsageError("--metric is not valid for --pairs, which contain distances")
    graph, ids = pairs_to_graph(
        options.data,
        n_samples=options.n_samples,
        directed=options.directed,
        similarity=options.similarity,
        return_ids=True,
    )
    return graph, ids, "precomputed"


def _included(asked: list[str], ids: Any) -> list[int]:
    """Return the rows of samples given by their identifiers."""
    names = [name.strip() for text in asked for name in text.split(",")]
    found = []
    for name in names:
        rows = np.flatnonzero(ids.astype(str) == name)
        if len(rows) == 0:
            raise CommandError(f"--must-include: there is no sample {name!r}")
        found.append(int(rows[0]))
    return found


def _write(folder: Path, cover: Any, X: Any, ids: Any, figures: dict[str, Any]) -> None:
    """Write the files of a cover into a new folder."""
    import pyarrow
    from pyarrow.parquet import write_table

    labels, chosen = cover.labels_, ids[cover.representative_indices_]
    _, distance = cover._model.prototype_set.nearest(
        completed(X, cover.dissimilarity_), n_jobs=cover.n_jobs
    )
    nobody = labels < 0
    representative = pyarrow.array(chosen).take(pyarrow.array(labels, mask=nobody))
    tables = {
        "representatives.parquet": {"row": chosen, "covers": cover.counts_},
        "assignment.parquet": {
            "row": ids,
            "representative": representative,
            "distance": pyarrow.array(distance, mask=nobody),
        },
    }
    for name, columns in tables.items():
        write_table(pyarrow.table(columns), folder / name)
    text = json.dumps(figures, indent=2, allow_nan=False)
    (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")
