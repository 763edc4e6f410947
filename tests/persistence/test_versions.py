"""Files of every version that was ever written can be read.

The files were saved by the version of protocover in their name's format from
``saved_models``, together with what the models answered. They are never made anew: a later
version of the format adds its own.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from saved_models import examples, other_models

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, load_model, save_model
from protocover.inspection.fitted import unwrap
from protocover.persistence import model_info
from protocover.persistence.encoding import encode
from protocover.persistence.models import decode_model, encode_model
from protocover.persistence.values import Loaded

FOLDER = Path(__file__).parents[1] / "recorded" / "model-files"
# Tangent distances were once computed in single precision, in an order that was the
# processor's: the recorded ones are good to this share of them.
TOLERANCES = {"v1-tangent.pvm": 1e-5}
RECORDED = json.loads((FOLDER / "answers.json").read_text())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", RECORDED)
def test_a_file_of_an_earlier_version_gives_the_answers_of_its_time(file):
    recorded = RECORDED[file]
    queries = (examples() | other_models())[recorded["example"]].queries
    model = load_model(FOLDER / file)
    assert type(model).__name__ == recorded["model"]
    assert model.predict(queries).tolist() == recorded["predicted"]
    np.testing.assert_allclose(
        model.decision_function(queries), recorded["decision"], rtol=TOLERANCES.get(file, 1e-9)
    )
    assert model_info(FOLDER / file).format_version == recorded["version"]
    if "radii" in recorded:
        assert unwrap(model).classifier.prototype_radii_.tolist() == recorded["radii"]


def test_every_file_has_its_answers_recorded():
    assert {path.name for path in FOLDER.glob("*.pvm")} == set(RECORDED)


def test_the_first_files_do_not_tell_all_that_a_ball_holds_and_the_model_says_so(tmp_path):
    """They have the points newly covered, from which the others do not follow."""
    model = load_model(FOLDER / "v1-dense.pvm")
    assert len(model.prototype_newly_covered_) == len(model.prototype_labels_)
    with pytest.raises(AttributeError, match=r"prototype_covered_ is not known.*coverage"):
        model.prototype_covered_  # noqa: B018
    save_model(model, tmp_path / "again")
    again = load_model(tmp_path / "again")
    assert not hasattr(again, "prototype_covered_")
    np.testing.assert_array_equal(again.prototype_newly_covered_, model.prototype_newly_covered_)
    with pytest.raises(AttributeError, match="before it is fitted; call fit first"):
        PVMClassifier(**PAPER).prototype_covered_  # noqa: B018


@pytest.mark.parametrize(
    ("eps", "read"),
    [
        (4, {"eps": None, "n_eps": 4}),
        (np.int64(4), {"eps": None, "n_eps": 4}),
        (4.0, {"eps": 4.0, "n_eps": 20}),
    ],
)
def test_a_search_of_the_first_files_has_its_parameters_by_their_names_of_today(eps, read):
    """A whole number under eps was how many radii to propose, n_prototypes max_prototypes."""
    model = PVMClassifierCV(eps=[1.0, 4.0], cv=2, n_prototypes=7, **PAPER)
    model.fit(np.arange(12.0)[:, None] % 7, np.arange(12) % 2)
    arrays = []
    record = encode_model(model, arrays)
    given = record["content"]["parameters"]
    del given["n_eps"]
    given |= {"max_prototypes": given.pop("n_prototypes"), "eps": encode(eps, arrays, "eps")}
    again = decode_model(record, Loaded(arrays))
    assert {name: getattr(again, name) for name in ("eps", "n_eps")} == read
    assert again.n_prototypes == 7


def test_the_search_of_a_file_knows_how_many_radii_it_was_to_try():
    model = load_model(FOLDER / "v1-search.pvm")
    assert (model.eps, model.n_eps, model.n_prototypes) == (None, 4, None)


def test_the_models_of_version_1_have_one_radius_for_all():
    model = load_model(FOLDER / "v1-dense.pvm")
    assert model.radii == "shared"
    assert model.solution_.radii is None
    assert model.prototype_radii_.tolist() == [model.eps_] * len(model.prototype_labels_)
