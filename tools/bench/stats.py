"""Percentiles, and ratios of medians with a bootstrap interval."""

import math
import random

RESAMPLES = 1000


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def percentile(values, share):
    """The nearest rank; None where so few values say nothing about it."""
    if len(values) * (1 - share) < 1:
        return None
    ordered = sorted(values)
    return ordered[math.ceil(len(ordered) * share) - 1]


def spread(values):
    """Half the distance between the quartiles, as a share of the median: how far a single value tends to lie off."""
    ordered = sorted(values)
    low, high = ordered[len(ordered) // 4], ordered[(3 * len(ordered)) // 4]
    return (high - low) / 2 / median(ordered)


def ratio(times, base, seed=1):
    """Median over median with its 95 % interval, over the rounds in which both took part (None: did not).

    Rounds are drawn, not single times: what disturbed a round disturbed both, and stays together.
    """
    pairs = [(one, other) for one, other in zip(times, base) if one is not None and other is not None]
    if not pairs:
        return None
    dice = random.Random(seed)
    drawn = []
    for _ in range(RESAMPLES if len(pairs) > 1 else 0):
        again = dice.choices(pairs, k=len(pairs))
        drawn.append(median([one for one, _ in again]) / median([other for _, other in again]))
    drawn.sort()
    value = median([one for one, _ in pairs]) / median([other for _, other in pairs])
    if not drawn:
        return value, None, None
    return value, drawn[int(len(drawn) * 0.025)], drawn[int(len(drawn) * 0.975) - 1]
