"""The protocol of Ramineni et al. 2025 written out, one scenario at a time, on dictionaries; nothing from the package.

A truth maps (s, o, e) to a probability, a classifier (s, o) to P(ŷ=1); the internal table maps (s, o), the external one
(o, e). Joints are built cell by cell, all eight of them, and kept where none is negative.
"""

import itertools
import math

ALPHAS = [0.1, 0.3, 0.5, 0.7, 1]
BETAS = [1, 3, 5, 7, 10]
TWO = (0, 1)
CELLS = list(itertools.product(TWO, TWO, TWO))


def as_truth(array):
    return {(s, o, e): float(array[s, o, e]) for s, o, e in CELLS}


def as_classifier(array):
    """From an array in the order (o, s)."""
    return {(s, o): float(array[o, s]) for s in TWO for o in TWO}


def internal_of(truth, alpha=1.0, beta=1.0):
    raw = {(s, o): (truth[s, o, 0] + truth[s, o, 1]) * (alpha, beta)[o] for s in TWO for o in TWO}
    total = sum(raw.values())
    return {cell: mass / total for cell, mass in raw.items()}


def external_of(truth):
    return {(o, e): truth[0, o, e] + truth[1, o, e] for o in TWO for e in TWO}


def kl(internal, external):
    outside = [external[o, 0] + external[o, 1] for o in TWO]
    inside = [internal[0, o] + internal[1, o] for o in TWO]
    return max(0.0, sum(p * math.log(p / q) for p, q in zip(outside, inside, strict=True)))


def kl_bin(divergence):
    for edge, name in [(0.05, "0–0.05"), (0.1, "0.05–0.1"), (0.2, "0.1–0.2"), (0.3, "0.2–0.3"), (0.5, "0.3–0.5")]:
        if divergence <= edge:
            return name
    return "0.5+"


def rates(joint, classifier):
    out = []
    for e in TWO:
        group = sum(joint[s, o, e] for s in TWO for o in TWO)
        out.append(sum(joint[s, o, e] * classifier[s, o] for s in TWO for o in TWO) / group)
    return out


def di(joint, classifier):
    first, second = rates(joint, classifier)
    return first / second


def dd(joint, classifier):
    first, second = rates(joint, classifier)
    return first - second


def joint_of(internal, external, c, k):
    """The joint with p(0,0,0) = c and p(0,1,0) = k that has the external table, and inside it p_i(s | o)."""
    joint = {}
    for o, free in ((0, c), (1, k)):
        mass = external[o, 0] + external[o, 1]
        share = internal[0, o] / (internal[0, o] + internal[1, o])
        joint[0, o, 0] = free
        joint[1, o, 0] = external[o, 0] - free
        joint[0, o, 1] = share * mass - free
        joint[1, o, 1] = external[o, 1] - joint[0, o, 1]
    return joint


def feasible_joints(internal, external, points):
    """All joints of the paper's grid without a negative cell: limits 0 and the lesser of the two marginals."""
    ends = []
    for o in TWO:
        mass = external[o, 0] + external[o, 1]
        share = internal[0, o] / (internal[0, o] + internal[1, o])
        ends.append(min(external[o, 0], share * mass))
    values = [[end * j / (points - 1) for j in range(points)] for end in ends]
    joints = (joint_of(internal, external, c, k) for c in values[0] for k in values[1])
    return [joint for joint in joints if min(joint.values()) >= -1e-15]


def independence(internal, external):
    joint = {}
    for s, o, e in CELLS:
        joint[s, o, e] = external[o, e] * internal[s, o] / (internal[0, o] + internal[1, o])
    return joint
