"""What a fitted cover says of cases: who stands for each, and how far that is."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._inspection.fitted import unwrap
from .cases import Cases
from .numbering import finite, number_rows


def assign_cases(model: Any, cases: Cases, *, known: bool = False) -> Any:
    """Return a table with the nearest representative of each case, and whether it covers it.

    Rows are counted from 1, those of representatives in the data that the cover was chosen
    from; these are `cases` themselves if `known`, so that names can be told.
    """
    import pandas as pd

    within = unwrap(model, covers=True)
    why = within.classifier.explain(within.prepare(cases.X))
    rows = np.append(within.classifier.prototype_indices_, -1)[why.prototype]
    columns: dict[str, Any] = {"row": cases.rows}
    if cases.names is not None:
        columns["name"] = cases.names
    columns["representative"] = number_rows(why.prototype)
    columns["representative_row"] = number_rows(rows)
    if known and cases.names is not None:
        columns["representative_name"] = np.where(rows < 0, None, cases.names[rows])
    return pd.DataFrame(columns | {"distance": finite(why.distance), "covered": why.inside})
