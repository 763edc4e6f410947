"""
A mixed medical table: typical patients
=======================================

Numbers, grades, categories and gaps in one table, and for each diagnosis a few real patients
who stand for the others. Gower's dissimilarity compares such rows as they are: nothing is
scaled, encoded or filled in.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from protocover import PVMClassifierCV
from protocover.dissimilarity import Gower
from protocover.plotting import PrototypeTableDisplay

# %%
# The patients
# ------------
# The table is made up. Each diagnosis has a mean and a spread for every number, and
# probabilities for everything else; one value in twenty is missing.

DIAGNOSES = ["asthma", "bronchitis", "flu", "heart failure"]
GRADES = ["none", "mild", "severe"]
NUMBERS = {
    "age": [(34, 13), (58, 12), (41, 18), (72, 9)],
    "temperature": [(36.8, 0.3), (37.4, 0.5), (38.9, 0.6), (36.7, 0.3)],
    "pulse": [(92, 10), (84, 9), (98, 10), (88, 14)],
}
CHOICES = {
    "cough": (
        GRADES,
        [(0.2, 0.5, 0.3), (0, 0.3, 0.7), (0.1, 0.6, 0.3), (0.5, 0.4, 0.1)],
    ),
    "breathless": (
        GRADES,
        [(0.1, 0.3, 0.6), (0.3, 0.5, 0.2), (0.7, 0.2, 0.1), (0, 0.3, 0.7)],
    ),
    "onset": (
        ["attack", "days", "weeks"],
        [(0.8, 0.15, 0.05), (0, 0.5, 0.5), (0.1, 0.9, 0), (0.1, 0.2, 0.7)],
    ),
    "smoker": (["yes", "no"], [(0.3, 0.7), (0.7, 0.3), (0.25, 0.75), (0.4, 0.6)]),
}


def make_patients(n_each, seed):
    """Draw a table of patients and their diagnoses."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name, laws in NUMBERS.items():
        values = np.concatenate([rng.normal(*law, n_each) for law in laws])
        columns[name] = values.round(1 if name == "temperature" else 0)
    for name, (values, laws) in CHOICES.items():
        columns[name] = np.concatenate(
            [rng.choice(values, n_each, p=law) for law in laws]
        )
    table = pd.DataFrame(columns)
    table["age"] = table["age"].clip(18, 99)
    table = table.mask(rng.random(table.shape) < 0.05)
    for name in ("cough", "breathless"):
        table[name] = pd.Categorical(table[name], categories=GRADES, ordered=True)
    return table, np.repeat(DIAGNOSES, n_each)


patients, diagnosis = make_patients(n_each=60, seed=0)
print(patients.sample(6, random_state=0).to_string())

# %%
# The dissimilarity
# -----------------
# For each pair of patients Gower's dissimilarity is the average over the columns that both
# have: the difference of two numbers as a share of the column's range, the difference of two
# grades as a share of the scale, 0 or 1 for categories. The column types tell which is which:
# an ordered pandas categorical is a scale.

for name, kind in zip(
    patients.columns, Gower().fit(patients).feature_types_, strict=True
):
    print(f"{name:12} {kind}")

# %%
# Typical patients
# ----------------
# A row with gaps has fewer columns in which to differ, so it is near to many others and
# easily becomes a prototype. We want patients to look at: only those without gaps may be
# chosen, while all patients are to be covered. The search chooses the radius that works
# best with at most twelve prototypes.

complete = patients.dropna()
settings = {"metric": Gower(), "candidates": complete}
model = PVMClassifierCV(
    radii="shared", prototype_costs=[1], max_prototypes=12, random_state=0, **settings
).fit(patients, diagnosis)

print(f"{len(complete)} of {len(patients)} patients have no gaps")
print(f"with a radius of {model.eps_:.3f}, {len(model.prototype_labels_)} are chosen")
print(
    pd.DataFrame(model.coverage(patients, diagnosis).by_class()).to_string(index=False)
)

# %%
# Under each number a strip spans the range of the column: the bar is the middle half of the
# patients with that diagnosis, the tick is the prototype. Under grades and categories the
# bar is the share of the diagnosis that has the same value.

display = PrototypeTableDisplay.from_estimator(model, patients, diagnosis)

# %%
# New patients
# ------------
# A new patient gets the diagnosis of the nearest prototype, and ``explain`` tells how close
# the call was: a small margin means that another diagnosis was nearly as near.

newcomers, truth = make_patients(n_each=200, seed=1)
print(f"{model.score(newcomers, truth):.1%} of {len(truth)} new patients told right")

clear = model.explain(newcomers)
right = clear.label == truth
for name, part in [
    ("closest calls", clear.margin < np.quantile(clear.margin, 0.25)),
    ("clearest calls", clear.margin >= np.quantile(clear.margin, 0.75)),
]:
    print(f"the quarter with the {name:14}: {right[part].mean():.1%} right")

plt.show()
