"""Slow and obvious versions of everything fast, for the tests to compare with."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy import ndimage
from scipy.spatial.distance import cdist


def members(D, eps, closed=False):
    """Ball memberships by comparing every dissimilarity with eps."""
    return eps >= D if closed else eps > D


def objective(problem, selected):
    """A selection's objective, point by point, as the paper writes it."""
    cover = problem.cover.toarray()
    value = 0.0
    for i in range(problem.n_points):
        if not any(cover[i, j] for j in selected):
            value += problem.prize[i]
    for j in selected:
        value += problem.wrong[j]
    return value + problem.prototype_cost * len(selected)


def optimum(problem):
    """The least objective over all subsets of the candidates."""
    candidates = range(problem.n_candidates)
    return min(
        objective(problem, subset)
        for size in range(problem.n_candidates + 1)
        for subset in itertools.combinations(candidates, size)
    )


def pvm_objective(inside, y, weights, prototypes, prototype_cost):
    """The integer program's objective (paper, equation 3) for (candidate, class) pairs."""
    value = prototype_cost * len(prototypes)
    for i in range(len(y)):
        own = [j for j, label in prototypes if label == y[i] and inside[i, j]]
        other = [j for j, label in prototypes if label != y[i] and inside[i, j]]
        value += weights[i] * ((not own) + len(other))
    return value


def pvm_greedy(inside, y, weights, prototype_cost, n_classes, served=None, floor=False):
    """The paper's greedy on all classes at once, every gain recomputed at every step.

    Ties go to the class first in order, then to the lower candidate. `served` is the class
    that each candidate may serve, None for any. With a `floor` the classes left without a
    prototype get the best single candidate that covers one of their samples at the end.
    """
    pairs = [
        (j, label)
        for label in range(n_classes)
        for j in range(inside.shape[1])
        if served is None or served[j] == label
    ]
    chosen, gains = [], []
    covered = np.zeros(len(y), dtype=bool)

    def gain(j, label):
        new = weights[inside[:, j] & (y == label) & ~covered].sum()
        return new - weights[inside[:, j] & (y != label)].sum()

    while True:
        best = max(pairs, key=lambda pair: gain(*pair), default=None)
        if best is None or gain(*best) <= prototype_cost:
            break
        chosen.append(best)
        gains.append(gain(*best))
        covered |= inside[:, best[0]] & (y == best[1])
    while floor:
        served_now = {label for _, label in chosen}
        left = [
            (j, label)
            for j, label in pairs
            if label not in served_now and inside[y == label, j].any()
        ]
        if not left:
            break
        chosen.append(max(left, key=lambda pair: gain(*pair)))
        gains.append(gain(*chosen[-1]))
    return chosen, gains


def ratio_greedy(problem):
    """Least cost per newly covered prize at every step, every ratio recomputed."""
    cover = problem.cover.toarray()
    uncovered = np.ones(problem.n_points, dtype=bool)
    chosen = []
    while True:
        best, best_ratio = None, math.inf
        for j in range(problem.n_candidates):
            new = problem.prize[cover[:, j] & uncovered].sum()
            if (
                new - problem.wrong[j] > problem.prototype_cost
                and problem.cost[j] / new < best_ratio
            ):
                best, best_ratio = j, problem.cost[j] / new
        if best is None:
            return chosen
        chosen.append(best)
        uncovered &= ~cover[:, best]


def square(x, z):
    """Squared distance of two rows, added up from the first feature on."""
    total = 0.0
    for a, b in zip(x.tolist(), z.tolist(), strict=True):
        total += (a - b) * (a - b)
    return total


def euclidean(X, Z):
    """Euclidean distances in a unit, a power of two, in which no square under- or overflows."""
    power = np.clip(-np.frexp(max(abs(X).max(), abs(Z).max()))[1], -600, 600)
    return np.ldexp(cdist(np.ldexp(X, power), np.ldexp(Z, power)), -power)


def nearest_class(X, prototypes, labels):
    """Class of the nearest prototype, ties to the class first in order (paper, equation 1)."""
    D = cdist(X, prototypes)
    classes = np.unique(labels)
    per_class = np.array([D[:, labels == label].min(axis=1) for label in classes])
    return classes[per_class.argmin(axis=0)]


def nearest_two(D, groups):
    """Places of the nearest and of the nearest of any other group, -1 where there is none."""
    found = []
    for distances in D.tolist():
        order = sorted(range(len(distances)), key=lambda k: (groups[k], k))  # in ties the first
        first = min(order, key=lambda k: distances[k])
        others = [k for k in order if groups[k] != groups[first]]
        found.append((first, min(others, key=lambda k: distances[k], default=-1)))
    return np.array(found, dtype=int).reshape(-1, 2).T


def mismatch_features(sequence, k, m, alphabet):
    """For every word of k letters, how many k-mers are within m mismatches of it."""
    kmers = [sequence[i : i + k] for i in range(len(sequence) - k + 1)]
    return np.array(
        [
            sum(sum(a != b for a, b in zip(kmer, word, strict=True)) <= m for kmer in kmers)
            for word in itertools.product(alphabet, repeat=k)
        ]
    )


def mismatch_kernel(A, B, k, m, alphabet):
    """The (k, m)-mismatch kernel by explicit feature vectors."""
    left = [mismatch_features(sequence, k, m, alphabet) for sequence in A]
    right = [mismatch_features(sequence, k, m, alphabet) for sequence in B]
    return np.array([[x @ z for z in right] for x in left])


def tanimoto(A, B):
    """Share of the bits of either row that only one has, of rows of booleans, as fractions."""
    table = np.empty((len(A), len(B)))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            either = sum(bool(x or z) for x, z in zip(a, b, strict=True))
            one = sum(bool(x) != bool(z) for x, z in zip(a, b, strict=True))
            table[i, j] = float(Fraction(one, either)) if either else 0.0
    return table


def gower(A, B, columns, gap=None):
    """Gower's dissimilarity pair by pair; None is a missing value.

    Each of `columns` is (kind, weight, scale): of a numeric column the scale is its range,
    of an ordered one the list of its values in order. A `gap` is how much two rows differ
    in a column that one of them has, if they have another in common.
    """
    return np.array([[_gower_pair(a, b, columns, gap) for b in B] for a in A])


def _gower_pair(a, b, columns, gap):
    total, weights, anything_known, one_sided = 0.0, 0.0, False, 0.0
    for x, z, (kind, weight, scale) in zip(a, b, columns, strict=True):
        if x is None or z is None or weight == 0:
            one_sided += weight * ((x is None) != (z is None))
            continue
        anything_known = True
        if kind == "asymmetric" and not x and not z:
            continue
        if kind == "numeric" and scale > 0:
            difference = min(1.0, abs(x - z) / scale)
        elif kind == "ordered" and len(scale) > 1:
            difference = abs(scale.index(x) - scale.index(z)) / (len(scale) - 1)
        else:
            difference = float(x != z)
        total += weight * difference
        weights += weight
    if weights == 0:
        return 0.0 if anything_known else 1.0
    if gap is not None:
        total, weights = total + gap * one_sided, weights + one_sided
    return total / weights


def contributions(metric, x, z, weights=None):
    """What each column contributes to the distance of x from z, or to its square, by hand.

    `metric` is the name of one; of "cosine" the rows are brought to length one first.
    """
    p = len(x)
    w = [1.0] * p if weights is None else weights
    if metric in ("euclidean", "sqeuclidean"):
        return [(x[j] - z[j]) ** 2 for j in range(p)]
    if metric == "seuclidean":
        return [(x[j] - z[j]) ** 2 / w[j] for j in range(p)]
    if metric == "cityblock":
        return [w[j] * abs(x[j] - z[j]) for j in range(p)]
    if metric == "hamming":
        return [w[j] * (x[j] != z[j]) / sum(w) for j in range(p)]
    if metric == "canberra":
        return [
            w[j] * abs(x[j] - z[j]) / (abs(x[j]) + abs(z[j])) if x[j] or z[j] else 0.0
            for j in range(p)
        ]
    if metric == "nan_euclidean":
        known = [not np.isnan(x[j]) and not np.isnan(z[j]) for j in range(p)]
        return [(x[j] - z[j]) ** 2 * p / sum(known) if known[j] else 0.0 for j in range(p)]
    assert metric == "cosine"
    a, b = sum(v * v for v in x) ** 0.5, sum(v * v for v in z) ** 0.5
    if not a and not b:
        return [0.0] * p
    if not a or not b:  # a right angle, made by the one that has a direction
        return [(x[j] / (a or 1.0)) ** 2 + (z[j] / (b or 1.0)) ** 2 for j in range(p)]
    return [(x[j] / a - z[j] / b) ** 2 / 2 for j in range(p)]


def gower_contributions(a, b, columns, gap=None):
    """What each column contributes to Gower's dissimilarity of two rows; None is missing.

    Columns are as in `gower`. The whole times the weight of what can be compared is a sum of
    terms, found by leaving all columns but one out.
    """
    if all(x is None or z is None or not w for x, z, (_, w, _) in zip(a, b, columns, strict=True)):
        total = sum(weight for _, weight, _ in columns)
        return [weight / total for _, weight, _ in columns]
    compared, terms = 0.0, []
    for x, z, (kind, weight, scale) in zip(a, b, columns, strict=True):
        tells = x is not None and z is not None and not (kind == "asymmetric" and not x and not z)
        compared += weight * tells
        alone = _gower_pair([x], [z], [(kind, weight, scale)], None) if tells and weight else 0.0
        terms.append(weight * alone)
    if compared and gap is not None:
        for j, (x, z, (_, weight, _)) in enumerate(zip(a, b, columns, strict=True)):
            if (x is None) != (z is None):
                compared += weight
                terms[j] = gap * weight
    return [term / compared if compared else 0.0 for term in terms]


def tangent_plane(image, *, pad, smoothing, derivative, background, transformations):
    """One padded and smoothed image, flattened, and its tangent vectors as columns."""
    image = np.pad(image, pad, constant_values=background)
    if smoothing:
        image = ndimage.gaussian_filter(image, smoothing, mode="nearest")
    if derivative:
        dy = ndimage.gaussian_filter(image, derivative, order=(1, 0), mode="nearest")
        dx = ndimage.gaussian_filter(image, derivative, order=(0, 1), mode="nearest")
    else:
        wide = np.pad(image, 1, mode="edge")
        dy = (wide[2:, 1:-1] - wide[:-2, 1:-1]) / 2
        dx = (wide[1:-1, 2:] - wide[1:-1, :-2]) / 2
    # What rounding left of 0 is not a direction.
    dy, dx = (np.where(abs(slope) > 1e-13, slope, 0.0) for slope in (dy, dx))
    y, x = np.indices(image.shape, dtype=float)
    y, x = y - y.mean(), x - x.mean()
    tangents = {
        "shift_x": dx,
        "shift_y": dy,
        "rotation": y * dx - x * dy,
        "scaling": x * dx + y * dy,
        "stretch": x * dx - y * dy,
        "shear": y * dx + x * dy,
        "thickness": dx**2 + dy**2,
    }
    columns = [tangents[name].ravel() for name in transformations]
    return image.ravel(), np.column_stack(columns) if columns else np.zeros((image.size, 0))


def tangent_distance(left, right, spring):
    """The least distance between two tangent planes, by a least squares solver.

    The spring constant adds rows: sqrt(spring) times how far each image was moved.
    """
    (x, P), (z, Q) = left, right
    # The length of a tangent vector does not matter, but the solver likes them alike.
    P, Q = (T / np.maximum(np.linalg.norm(T, axis=0), 1e-300) for T in (P, Q))
    root = math.sqrt(spring)
    system = np.vstack(
        (
            np.hstack((P, -Q)),
            np.hstack((root * P, np.zeros_like(Q))),
            np.hstack((np.zeros_like(P), root * Q)),
        )
    )
    target = np.concatenate((z - x, np.zeros(2 * len(x))))
    moves = np.linalg.lstsq(system, target, rcond=1e-12)[0]
    return np.linalg.norm(system @ moves - target)


def graph_table(entries, shape, of_points=False):
    """The table that a neighbour graph stands for: infinity where no entry is.

    `entries` are (row, column, distance). Points are as far from themselves as is said, or 0.
    """
    D = np.full(shape, np.inf)
    for i in range(shape[0]) if of_points else ():
        D[i, i] = 0.0
    for i, j, distance in entries:
        D[i, j] = distance
    return D


def pair_table(pairs, n, directed=False, similarity=False):
    """The graph table of a list of pairs (i, j, distance), pair by pair."""
    entries = []
    for i, j, value in pairs:
        distance = 1.0 - value if similarity else value
        entries.append((i, j, distance))
        if not directed:
            entries.append((j, i, distance))
    return graph_table(entries, (n, n))


def greedy_cover(D, eps, closed=False):
    """Rows that the greedy takes one by one until every row lies near a taken one."""
    inside = members(D, eps, closed)
    covered, chosen = np.zeros(len(D), dtype=bool), []
    while (gain := (inside & ~covered[:, None]).sum(axis=0)).max() > 0:
        chosen.append(int(gain.argmax()))
        covered |= inside[:, chosen[-1]]
    return chosen


def graph_nearest(D, labels, radii=None):
    """The nearest prototype of each class, ties to the first; -1 where all are at infinity."""
    classes = np.unique(labels)
    index = np.full((len(D), len(classes)), -1)
    for i in range(len(D)):
        for c, label in enumerate(classes):
            best = math.inf
            for j in np.flatnonzero(labels == label):
                multiple = D[i, j] if radii is None else D[i, j] / radii[j]
                if multiple < best:
                    best, index[i, c] = multiple, j
    return index


def ranks(D_train, D):
    """How many training points are as close to each candidate, one comparison at a time."""
    return np.array(
        [[sum(t <= d for t in D_train[:, j]) for j, d in enumerate(row)] for row in D], dtype=float
    )


def dann_metric(X, y, z, *, n_neighbors, epsilon, shrinkage, n_iterations):
    """The metric of discriminant adaptive nearest neighbours at z as one full matrix.

    Hastie and Tibshirani (1996), equations 2 to 5, without training points at z itself.
    """
    others = (z != X).any(axis=1)
    X, y = X[others], y[others]
    metric = np.eye(len(z))
    for _ in range(n_iterations):
        distance = np.array([math.sqrt(max(0.0, (x - z) @ metric @ (x - z))) for x in X])
        near = np.argsort(distance, kind="stable")[:n_neighbors]
        weight = (1 - (distance[near] / distance[near].max()) ** 3) ** 3
        points, labels = X[near], y[near]
        mean = np.average(points, axis=0, weights=weight)
        W, B = np.zeros_like(metric), np.zeros_like(metric)
        for label in np.unique(labels):
            own = labels == label
            if weight[own].sum() == 0:
                continue
            center = np.average(points[own], axis=0, weights=weight[own])
            for x, w in zip(points[own], weight[own], strict=True):
                W += w * np.outer(x - center, x - center)
            B += weight[own].sum() * np.outer(center - mean, center - mean)
        W, B = W / weight.sum(), B / weight.sum()
        W = (1 - shrinkage) * W + shrinkage * np.trace(W) / len(z) * np.eye(len(z))
        values, vectors = np.linalg.eigh(W)
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        metric = root @ (root @ B @ root + epsilon * np.eye(len(z))) @ root
    return metric


def exact_value(problem, selected):
    """A selection's objective as a fraction, point by point."""
    cover = problem.cover.toarray()
    value = len(selected) * problem.exact_cost
    for i in range(problem.n_points):
        if not any(cover[i, j] for j in selected):
            value += Fraction(problem.prize[i])
    return value + sum(Fraction(problem.wrong[j]) for j in selected)


def exact_optimum(problem):
    """The least objective over all subsets as a fraction, and the fewest prototypes with it."""
    candidates = range(problem.n_candidates)
    return min(
        (exact_value(problem, subset), size)
        for size in range(problem.n_candidates + 1)
        for subset in itertools.combinations(candidates, size)
    )


def leaves_bound(problem, leaves, dual, selected):
    """What a proof by cases comes to: every case by itself, every candidate by itself.

    Selections of which no candidate costs as much as it covers are looked at; the least of
    them is a multiple of the problem's step.
    """
    cover, step = problem.cover.toarray(), problem.step
    cost = [Fraction(wrong) + problem.exact_cost for wrong in problem.wrong.tolist()]
    prizes = [Fraction(prize) for prize in problem.prize.tolist()]
    reach = [sum(itertools.compress(prizes, ball), Fraction(0)) for ball in cover.T]
    useful = {j for j in range(problem.n_candidates) if cost[j] < reach[j]}
    reached = exact_value(problem, selected)

    def enough(bound):
        return math.ceil(bound / step) * step >= reached

    def bound_of(vector, inside, outside):
        u = [Fraction(math.floor(x / problem.grid)) * Fraction(problem.grid) for x in vector]
        slack = {j: cost[j] - sum(itertools.compress(u, cover[:, j])) for j in useful}
        negative = sum(min(slack[j], 0) for j in useful - inside - outside)
        return sum(u) + sum(slack[j] for j in inside) + negative, slack

    def walk(steps, vectors, inside, outside, known):
        """The least bound of the leaves from here on, and the steps and vectors left."""
        step, *steps = steps
        if step == -2:
            return known, steps, vectors
        if step >= 0:
            ways = ((inside, outside | {step}), (inside | {step}, outside))
            found = []
            for now_in, now_out in ways:
                bound, steps, vectors = walk(steps, vectors, now_in, now_out, known)
                nobody = now_in & now_out or now_in - useful
                found.append(reached if nobody else bound)
            return min(found), steps, vectors
        vector, *vectors = vectors
        bound, slack = bound_of(vector, inside & useful, outside)
        for j in sorted(useful - inside - outside) if not enough(bound) else ():
            if enough(bound + max(slack[j], 0)):
                outside = outside | {j}
            elif enough(bound - min(slack[j], 0)):
                inside = inside | {j}
        return walk(steps, vectors, inside, outside, max(known, bound))

    first = [] if dual is None else [-1]
    duals = [] if dual is None else [dual.tolist()]
    steps, vectors = leaves.steps.tolist(), leaves.vectors.tolist()
    least, *_ = walk(first + steps, duals + vectors, set(), set(), Fraction(0))
    return min(math.ceil(least / step) * step, reached)


def exchanges(residual, chosen):
    """What each exchange of a chosen column for another does to the value of a residual."""
    others = np.setdiff1d(np.arange(len(residual.cost)), chosen)
    before = residual.value(chosen)
    return {
        (int(out), int(into)): residual.value(np.append(chosen[chosen != out], into)) - before
        for out in chosen
        for into in others
    }


def exact_optimum_within(problems, budget):
    """The least sum of objectives with at most `budget` prototypes of all problems together."""
    totals = {0: 0}
    for problem in problems:
        best = {size: value for size, value in least_by_size(problem).items() if size <= budget}
        sums = [(n + m, total + best[m]) for n, total in totals.items() for m in best]
        totals = {k: min(value for n, value in sums if n == k) for k, _ in sums if k <= budget}
    return min(totals.values())


@lru_cache(maxsize=64)
def least_by_size(problem):
    """The least objective of each number of prototypes, over all subsets.

    As :func:`exact_value` has it, in whole numbers of a common fraction, a subset and the
    candidates that hold a point each the bits of a number.
    """
    amounts = [Fraction(one) for one in (*problem.prize, *problem.wrong)]
    below = math.lcm(problem.exact_cost.denominator, *(one.denominator for one in amounts))
    prizes = [int(one * below) for one in amounts[: problem.n_points]]
    wrong = [int(one * below) for one in amounts[problem.n_points :]]
    cost = int(problem.exact_cost * below)
    holders = [sum(1 << int(j) for j in np.flatnonzero(row)) for row in problem.cover.toarray()]
    least = {}
    for subset in range(2**problem.n_candidates):
        chosen = [j for j in range(problem.n_candidates) if subset >> j & 1]
        pairs = zip(prizes, holders, strict=True)
        value = sum(prize for prize, held in pairs if not held & subset)
        value += sum(wrong[j] for j in chosen) + len(chosen) * cost
        least[len(chosen)] = min(value, least.get(len(chosen), value))
    return {size: Fraction(value, below) for size, value in least.items()}


def sammon_stress(D, places):
    """Sammon's stress, pair by pair, those of dissimilarity zero left out."""
    total, misfit = 0.0, 0.0
    for i, j in itertools.combinations(range(len(D)), 2):
        if D[i][j] > 0:
            total += D[i][j]
            misfit += (D[i][j] - math.dist(places[i], places[j])) ** 2 / D[i][j]
    return misfit / total if total else 0.0


def finite_differences(function, x, step=1e-5):
    """First and unmixed second derivatives of a function of a vector, by central differences."""
    slope, bend = np.empty(len(x)), np.empty(len(x))
    for k in range(len(x)):
        ahead, behind = x.copy(), x.copy()
        ahead[k] += step
        behind[k] -= step
        slope[k] = (function(ahead) - function(behind)) / (2 * step)
        bend[k] = (function(ahead) - 2 * function(x) + function(behind)) / step**2
    return slope, bend


def suspects(distances, y, prototype_labels, prototype_rows, eps, radii=None, closed=False):
    """Suspect training points as (row, score, suggested label, reason), highest score first.

    Given `radii` of the prototypes, distances count as multiples of them, and the nearest
    prototype of a class speaks alone.
    """
    n, m = distances.shape
    reach = [eps] * m if radii is None else radii

    def inside(i, k):
        return distances[i, k] <= reach[k] if closed else distances[i, k] < reach[k]

    def away(i, k):
        if prototype_rows[k] == i:
            return eps if radii is None else 1.0
        if radii is None:
            return distances[i, k]
        if radii[k] == 0.0:
            return 0.0 if distances[i, k] == 0.0 else np.finfo(float).max
        return distances[i, k] / radii[k]

    alone = [
        not any(
            inside(i, k) and y[i] == prototype_labels[k] and i != prototype_rows[k]
            for i in range(n)
        )
        for k in range(m)
    ]
    found = []
    for i in range(n):
        near, held = {}, {}
        for label in sorted(set(prototype_labels.tolist())):
            speaks = [
                k
                for k in range(m)
                if prototype_labels[k] == label and not (alone[k] and prototype_rows[k] == i)
            ]
            heard = sorted(away(i, k) for k in speaks)[: 2 if radii is None else 1]
            if heard:
                near[label] = sum(heard) / len(heard)
            held[label] = any(inside(i, k) for k in speaks)
        others = {label: value for label, value in near.items() if label != y[i]}
        if not others or y[i] not in held:
            continue  # a class without a prototype is not judged
        suggested = min(others, key=lambda label: (others[label], label))
        a, b = near.get(y[i]), others[suggested]
        score = 1.0 if a is None else 0.5 if a == b else a / (a + b)
        only_others = not held.get(y[i], False) and any(
            here for label, here in held.items() if label != y[i]
        )
        if only_others or score > 0.5:
            reason = (
                "covered only by other classes" if only_others else "nearest prototypes disagree"
            )
            found.append((i, score, suggested, reason))
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))


def plausible(mean, disagrees):
    """Number of labels to list, given how far each sample is from each class."""
    n = len(mean)

    def certainty(i):
        first, second = sorted(mean[i])[:2]
        return 0.5 if first == second else 1.0 if np.isinf(second) else second / (first + second)

    certain = sorted((certainty(i) for i in range(n)), reverse=True)
    limit = certain[-(-n // 4) - 1]
    top = [i for i in range(n) if certainty(i) >= limit]
    wrong = sum(bool(disagrees[i]) for i in top)
    if wrong > 0.1 * len(top) + 2 * (len(top) * 0.1 * 0.9) ** 0.5:
        return 0
    return round((wrong + 1) * n / len(top))


def own_columns(D, y, weights, label, eps, closed=False):
    """Every ball of every radius up to `eps` that a candidate may take for a class.

    One for each set of points it can hold, the smallest first: (candidate, members of the
    class, weight of the others, number of the others).
    """
    columns = []
    for j in range(D.shape[1]):
        within = members(D[:, j], eps, closed)
        for farthest in np.unique(D[within, j]):
            inside = within & (D[:, j] <= farthest)
            other = inside & (y != label)
            columns.append((j, inside & (y == label), weights[other].sum(), other.sum()))
    return columns


def own_balls(D, y, weights, label, eps, closed=False, least_cost=0.0, served=None):
    """The balls about each candidate that may be part of an optimum, one radius at a time.

    A ball ends before a rival or at the limit, and gains more than all smaller ones:
    (candidate, radius, members of the class, weight of the others, their number). If none
    gains the least cost, the one that gains most is left. `served` is the class that each
    candidate may serve, -1 for any.
    """
    balls, best_single, highest = [], [], -math.inf
    for j in range(D.shape[1]):
        if served is not None and served[j] not in (-1, label):
            continue
        within = members(D[:, j], eps, closed)
        rivals = np.unique(D[within & (y != label), j]).tolist()
        best = 0.0
        for rival in [*rivals, None]:
            inside = within if rival is None else within & (D[:, j] < rival)
            own, other = inside & (y == label), inside & (y != label)
            gain = weights[own].sum() - weights[other].sum()
            if not own.any():
                continue
            radius = _own_radius(rival, D[within, j].max(), eps, closed)
            ball = (j, radius, own, weights[other].sum(), other.sum())
            if gain > best and gain >= least_cost:
                balls.append(ball)
            if gain > highest:
                best_single, highest = [ball], gain
            best = max(best, gain)
    return balls or best_single


def _own_radius(rival, farthest, eps, closed):
    """Open balls end at a rival, closed ones just before; with no rival at the limit."""
    if rival is not None:
        return math.nextafter(rival, 0.0) if closed else rival
    if math.isfinite(eps):
        return eps
    return farthest if closed else math.nextafter(farthest, math.inf)


def own_optimum(D, y, weights, label, eps, closed, prototype_cost):
    """The least objective when each candidate takes one of all its balls, or none."""
    columns = own_columns(D, y, weights, label, eps, closed)
    choices = [[None, *(c for c in columns if c[0] == j)] for j in range(D.shape[1])]
    best = math.inf
    for choice in itertools.product(*choices):
        taken = [column for column in choice if column is not None]
        covered = np.any([own for _, own, _, _ in taken] or [np.zeros(len(y), bool)], axis=0)
        missed = weights[(y == label) & ~covered].sum()
        wrong = sum(weight for _, _, weight, _ in taken)
        best = min(best, missed + wrong + prototype_cost * len(taken))
    return best


def own_greedy(D, y, weights, eps, *, closed, prototype_cost, served=None, floor=False):
    """The paper's greedy on all classes at once, over all balls that may be part of an optimum.

    Returns (candidate, class, radius). Ties go to the class first in order, then to the lower
    candidate, then to the smaller ball. `served` is as for :func:`own_balls`. With a `floor`
    the classes left without a prototype get their best single ball at the end, if they have
    one.
    """
    balls = [
        (j, label, radius, inside, wrong)
        for label in np.unique(y)
        for j, radius, inside, wrong, _ in own_balls(
            D, y, weights, label, eps, closed, served=served
        )
    ]
    chosen, covered = [], np.zeros(len(y), dtype=bool)

    def gain(ball):
        return weights[ball[3] & ~covered].sum() - ball[4]

    while True:
        best = max(balls, key=gain, default=None)
        if best is None or gain(best) <= prototype_cost:
            break
        chosen.append(best[:3])
        covered |= best[3]
    while floor:
        left = [ball for ball in balls if ball[1] not in {label for _, label, _ in chosen}]
        if not left:
            break
        chosen.append(max(left, key=gain)[:3])
    return chosen


def own_nearest(D, chosen, *, closed):
    """Class of the prototype of whose radius the distance is the smallest multiple; and inside."""
    label, inside = np.full(len(D), -1), np.zeros(len(D), dtype=bool)
    for i in range(len(D)):
        best = math.inf
        for j, of_class, radius in sorted(chosen, key=lambda ball: ball[1]):
            largest = np.finfo(float).max
            tiny = D[i, j] / largest >= radius  # also a radius of 0, at its centre or not
            multiple = (largest if D[i, j] else 0.0) if tiny else D[i, j] / radius
            within = radius >= D[i, j] if closed else radius > D[i, j]
            inside[i] |= within
            if multiple < best:
                best, label[i] = multiple, of_class
    return label, inside


def rival_quantile(D, y, weights, q):
    """Weighted lower quantile of the positive distances to the nearest sample of another class."""
    nearest = sorted(
        (min(D[i, j] for j in range(len(y)) if y[j] != y[i]), weights[i]) for i in range(len(y))
    )
    nearest = [(distance, weight) for distance, weight in nearest if distance > 0.0]
    total, running = sum(weight for _, weight in nearest), 0.0
    for distance, weight in nearest:
        running += weight
        if running >= q * total:
            return distance
    return nearest[-1][0]


def fitted_rule_loss(parameters, squared, classes, y, weight, own, unit):
    """Minus the penalized log likelihood of the fitted rule, term by term.

    `parameters` are the logarithm of the common scale, those of the scales relative to it, and the
    offsets. Distances are infinite where they are unknown.
    """
    k = len(classes)
    common, scale, offset = parameters[0], parameters[1 : 1 + k], parameters[1 + k :]
    loss = 0.5 * (common / 0.5) ** 2
    for j in range(k):
        loss += 0.5 * scale[j] ** 2 + 0.5 * offset[j] ** 2
    for i in range(len(y)):
        of_class = of_all = 0.0
        for j in range(k):
            if j == own[i]:
                continue
            term = math.exp(-math.exp(common + scale[j]) * squared[i][j] / unit - offset[j])
            of_all += term
            of_class += term if classes[j] == y[i] else 0.0
        if of_class > 0.0:
            loss -= weight[i] * math.log(of_class / of_all)
    return loss


def fitted_rule_probabilities(squared, scale, offset, classes, n_classes):
    """Class probabilities of the fitted rule at one sample."""
    found = [0.0] * n_classes
    for j, label in enumerate(classes):
        found[label] += math.exp(-scale[j] * squared[j] - offset[j])
    return [value / sum(found) for value in found]
