"""``protocover cover``: from a table or a folder of images to a few cases that stand for all."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from .. import __version__
from .._estimators import BallCover
from .._persistence import save_model
from ..report import Summary, write_report
from ..report._summary import Quality
from .cases import Cases
from .console import Console, count_things
from .cover_answers import assign_cases
from .cover_cases import Choice, read_choice
from .estimator import Distance, choose_distance
from .fit import settings_of, stem
from .model import MODEL, SUMMARY, final_step
from .numbering import number_rows
from .outcome import summarize_cases
from .writing import (
    REPORT,
    WRITER,
    beside,
    fresh_folder,
    print_files,
    told_where,
    write_table,
)

_REPRESENTATIVES, _ASSIGNMENTS = "representatives.csv", "assignments.csv"
_FILES = {
    REPORT: "to look at in a browser: start here",
    _REPRESENTATIVES: "the representatives, as they are in the data",
    _ASSIGNMENTS: "every case, who stands for it and how far that is",
    SUMMARY: "all figures",
    MODEL: "the model, for `protocover predict`",
}


@dataclass(frozen=True, eq=False)
class _Outcome:
    """A fitted cover, within a pipeline or not, and what is to be told of it."""

    model: Any
    cases: Cases
    summary: Summary
    distance: str
    settings: dict[str, Any]
    seconds: float

    @property
    def cover(self) -> BallCover:
        """The cover itself."""
        cover: BallCover = final_step(self.model)
        return cover

    @property
    def quality(self) -> Quality:
        """How good it is."""
        assert self.summary.quality is not None
        return self.summary.quality


def run_cover(options: Namespace, console: Console) -> None:
    """Read, choose representatives, and write everything into one folder."""
    folder = options.output or Path(f"{stem(options.data)}-protocover")
    if not options.data.exists():
        raise FileNotFoundError(2, "No such file or folder", str(options.data))
    inputs = [options.data, options.features]
    with fresh_folder(folder, force=options.force, inputs=inputs) as unfinished:
        outcome = _fit(options, console)
        with told_where(folder, instead=lambda: _print(outcome, console)):
            _write(unfinished, outcome)
    # Printed after the folder is complete, so that a closed pipe does not discard the fit.
    _print(outcome, console)
    print_files(folder, console, _FILES)


def _fit(options: Namespace, console: Console) -> _Outcome:
    """Read everything, and choose."""
    choice = read_choice(options, console)
    asymmetric = [
        text.rpartition("=")[0] for text in options.feature_type if text.endswith("=asymmetric")
    ]
    distance = choose_distance(
        choice.cases,
        name=options.metric,
        scaled=options.scale,
        asymmetric=asymmetric,
        params=dict(options.metric_param),
    )
    console.note(f"Distance: {distance.words} ({distance.reason}).")
    return _choose(choice, distance, options, console)


def _choose(choice: Choice, distance: Distance, options: Namespace, console: Console) -> _Outcome:
    """Fit a cover as the options ask, and gather what is to be told of it."""
    started, cases = time.perf_counter(), choice.cases
    if distance.of_numbers:
        cases = replace(cases, X=cases.X.astype(float if cases.layout is None else np.float32))
    console.note(f"Choosing representatives of {len(cases)} cases ...")
    cover = BallCover(
        eps=options.eps,
        max_representatives=options.max_representatives,
        coverage=options.coverage,
        cost=options.cost,
        must_include=choice.included or None,
        candidate_cost=choice.costs,
        metric=distance.metric,
        solver=options.solver,
        solver_options=None if options.time_limit is None else {"time_limit": options.time_limit},
        closed_ball=options.closed_ball,
        n_jobs=options.n_jobs,
        random_state=0,
        verbose=console.verbose,
    )
    steps = [("scale", StandardScaler())] if distance.scaled else []
    model = Pipeline([*steps, ("cover", cover)])
    model.fit(cases.X, cover__sample_weight=choice.weights)
    cover.set_params(verbose=0)
    model = model if steps else cover
    return _Outcome(
        model,
        cases,
        summary=summarize_covered(model, cases, title=f"Representatives of {cases.source}"),
        distance=distance.words,
        settings=settings_of(options),
        seconds=time.perf_counter() - started,
    )


def summarize_covered(model: Any, cases: Cases, *, title: str) -> Summary:
    """Return what the report says of a cover and the cases that it was chosen from."""
    how = {"Data": f"{cases.source}, {len(cases)} cases"}
    return summarize_cases(model, cases, None, title=title, how=how)


def _print(outcome: _Outcome, console: Console) -> None:
    """Print what was found, in a few lines."""
    cover, quality = outcome.cover, outcome.quality
    chosen = count_things(quality.n_prototypes, "case stands", "cases stand")
    radius = dict(outcome.summary.settings)["Radius"]
    console.say(f"\n{chosen} for {quality.n_points}.")
    console.say(f"radius     {radius}")
    share = f"{100 * quality.n_covered / quality.n_points:.1f} %"
    weight = (
        ""
        if outcome.settings["weights"] is None
        else f", {100 * cover.coverage_:.1f} % of the weight"
    )
    console.say(f"covered    {quality.n_covered} of {quality.n_points}, {share}{weight}")
    console.say(f"proof      {quality.verdict}")


def _write(folder: Path, outcome: _Outcome) -> None:
    """Write all files."""
    save_model(outcome.model, folder / MODEL)
    write_report(outcome.summary, folder / REPORT)
    write_table(folder / _REPRESENTATIVES, _representatives(outcome), outcome)
    assigned = assign_cases(outcome.model, outcome.cases, known=True)
    write_table(folder / _ASSIGNMENTS, assigned, outcome)
    text = json.dumps(_figures(outcome), indent=2, allow_nan=False, default=str)
    (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")


def _representatives(outcome: _Outcome) -> Any:
    """Return the representatives in their order, with all cells of their rows."""
    import pandas as pd

    cover, cases = outcome.cover, outcome.cases
    places = cover.representative_indices_
    table = pd.DataFrame(
        {
            "representative": np.arange(1, len(places) + 1),
            "row": number_rows(places),
            "stands_for": cover.counts_,
            "within_reach": [entry.covers for entry in outcome.summary.prototypes],
        }
    )
    return beside(table, cases, places)


def _figures(outcome: _Outcome) -> dict[str, Any]:
    """Return what summary.json says."""
    cases, quality, cover = outcome.cases, outcome.quality, outcome.cover
    return {
        "written_by": WRITER,
        "version": __version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": list(_FILES),
        "data": {
            "source": cases.source,
            "cases": len(cases),
            "columns": None if cases.layout else [str(name) for name in cases.X.columns],
            "images": str(cases.layout) if cases.layout else None,
            "id": outcome.settings.get("id"),
        },
        "distance": outcome.distance,
        "eps": float(cover.eps_),
        "representatives": quality.n_prototypes,
        "cases": quality.n_points,
        "covered": quality.n_covered,
        "coverage": float(cover.coverage_),
        "objective": quality.objective,
        "lower_bound": quality.lower_bound,
        "gap": quality.gap,
        "certificate": quality.certificate,
        "proof": quality.verdict,
        "seconds": round(outcome.seconds, 3),
        "settings": outcome.settings,
        "held_out_rows": [],
    }
