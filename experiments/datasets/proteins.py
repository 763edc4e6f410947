"""Proteins: the paper's kernel matrix, and the SCOP 1.53 sequences."""

from __future__ import annotations

import csv
import os

import numpy as np
from sklearn.utils import Bunch

from protocover.dissimilarity import read_fasta

from .sources import DataNotFoundError, check_counts, check_shape, find_file

__all__ = ["load_proteins", "load_scop"]

_KERNEL_SUM = "ca34778fdf3a1641030c2cae2a57505eeb09f40220a606e409522bdeac9cdf13"
_FASTA_SUM = "c8a5ff8b493d32a048c84075a15c386b7aa8ee1a53eb2f38d642acd83244387a"
_LABELS_SUM = "3babba40e7e40e41a18c3618b2a1bb96cd4685835e3a5db2a7301854fbd8be64"


def load_proteins(folder: str | os.PathLike[str] | None = None) -> Bunch:
    """Load the mismatch kernel of the 1708 proteins of Leslie et al. (2004).

    Parameters
    ----------
    folder : path or None, default=None
        Where ``protein/leslie1708_kernel.npz`` is; None for that of
        PROTOCOVER_DATA. It is not on OpenML.

    Returns
    -------
    Bunch
        With ``kernel`` (normalised to a diagonal of ones), ``raw_kernel`` (whole numbers,
        as published) and ``target``: "Positive" for 45 proteins, "Negative" for 1663. The
        labels are inferred from the order of the rows and from SCOP codes, not published.

    Examples
    --------
    >>> from experiments.datasets import load_proteins
    >>> load_proteins().kernel.shape  # doctest: +SKIP
    (1708, 1708)
    """
    name = "protein/leslie1708_kernel.npz"
    path = find_file(name, _KERNEL_SUM, folder)
    if path is None:
        raise _absent("the proteins' kernel matrix", name)
    with np.load(path, allow_pickle=False) as file:
        raw, positive = file["K"], file["y"] == 1
    check_shape("the proteins' kernel", raw, (1708, 1708))
    y = np.where(positive, "Positive", "Negative")
    check_counts("the proteins", y, (1663, 45))
    scale = 1.0 / np.sqrt(np.diagonal(raw).astype(np.float64))
    kernel = raw * np.outer(scale, scale)
    # The product of two rounded roots need not be exactly the reciprocal.
    np.fill_diagonal(kernel, 1.0)
    return Bunch(kernel=kernel, raw_kernel=raw, target=y)


def load_scop(folder: str | os.PathLike[str] | None = None) -> Bunch:
    """Load the 4352 SCOP 1.53 domains of Liao and Noble (2003).

    Parameters
    ----------
    folder : path or None, default=None
        Where ``protein/scop153.fasta`` and ``protein/scop153_labels.csv`` are; None for
        that of PROTOCOVER_DATA. They are not on OpenML.

    Returns
    -------
    Bunch
        With ``data`` (list of sequences), ``names``, ``family``, ``superfamily`` and
        ``fold`` (SCOP codes as text), and ``binary``: for the superfamilies 1.27.1, 2.1.1
        and 3.2.1 "Positive" or "Negative".

    Examples
    --------
    >>> from experiments.datasets import load_scop
    >>> len(load_scop().data)  # doctest: +SKIP
    4352
    """
    fasta = find_file("protein/scop153.fasta", _FASTA_SUM, folder)
    labels = find_file("protein/scop153_labels.csv", _LABELS_SUM, folder)
    if fasta is None or labels is None:
        raise _absent("SCOP 1.53", "protein/scop153.fasta and protein/scop153_labels.csv")
    records = read_fasta(fasta)
    with labels.open(newline="") as file:
        rows = list(csv.DictReader(file))
    if [record.name for record in records] != [row["sid"] for row in rows]:
        raise ValueError("scop153.fasta and scop153_labels.csv do not list the same domains")
    columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    check_shape("SCOP 1.53", columns["sid"], (4352,))
    return Bunch(
        data=[record.sequence for record in records],
        names=columns["sid"],
        family=columns["family"],
        superfamily=columns["superfamily"],
        fold=columns["fold"],
        binary={
            code: columns[f"binary_{code.replace('.', '_')}"]
            for code in ("1.27.1", "2.1.1", "3.2.1")
        },
    )


def _absent(what: str, files: str) -> DataNotFoundError:
    """Return the error that says what to do."""
    return DataNotFoundError(
        f"{what} is not among the local data, and it is not on OpenML; put {files} into a "
        "folder and point PROTOCOVER_DATA at it"
    )
