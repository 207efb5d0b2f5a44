"""Count configurations exactly by modular arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from partita.configurations.sparse import dense, kernels
from partita.configurations.sparse.recursion import SUM, gathered
from partita.configurations.sparse.tree import EliminationStep, Join
from partita.core import FloatArray, IntArray

EXACT = 52  # bits of integers that a double holds, and one to spare
MOST = 48  # bits of the largest primes used
ROOM = 17  # a table over subsets and several primes has at most 2^ROOM entries: it fits a cache
THREADS = 2
WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # enough below 2^64


def count_by_elimination(
    steps: Sequence[EliminationStep], theta: FloatArray, log2_count: float
) -> int:
    """Return the number, from its logarithm: modulo so many primes that their product is larger."""
    bits = _prime_bits(steps)
    primes = _primes_below(1 << bits, log2_count + 2.0)
    widest = max((len(step.dims) for step in steps), default=0) + 1
    lanes = max(1, 1 << ROOM >> widest)
    parts = [primes[first : first + lanes] for first in range(0, len(primes), lanes)]
    with ThreadPoolExecutor(THREADS) as pool:
        residues = pool.map(lambda part: _ModularCount(steps, theta, part).residues(), parts)
        return _chinese_remainder([residue for part in residues for residue in part], primes)


def _prime_bits(steps: Sequence[EliminationStep]) -> int:
    """Return so few bits that no sum of a step or a join leaves the exact integers."""
    at_steps = [EXACT - (step.cliques + 1).bit_length() for step in steps]
    at_joins = [(EXACT - len(join.dense) + join.own) // 2 for step in steps for join in step.joins]
    return min([MOST, *at_steps, *at_joins])


class _ModularCount:
    """Tables of counts, one prime after another in the lowest bits, which belong to no cell."""

    def __init__(
        self, steps: Sequence[EliminationStep], theta: FloatArray, primes: list[int]
    ) -> None:
        self.steps, self.used = steps, len(primes)
        self.lanes = (len(primes) - 1).bit_length()
        self.primes = np.ones(1 << self.lanes)
        self.primes[: len(primes)] = primes
        self.ones = np.where(theta > -np.inf, 0.0, -np.inf)
        self.messages: dict[int, FloatArray] = {}

    def residues(self) -> list[int]:
        """Return the count modulo each prime."""
        total = [1] * self.used
        for n, step in enumerate(self.steps):
            self.messages[n] = self._message(step)
            if not step.dims:
                values = self.messages[n][: self.used].astype(np.int64).tolist()
                moduli = self.primes[: self.used].astype(np.int64).tolist()
                total = [t * v % p for t, v, p in zip(total, values, moduli, strict=True)]
            for child in step.children:
                del self.messages[child]
        return total

    def _message(self, step: EliminationStep) -> FloatArray:
        product = self._product(step)
        masks, logs = kernels.cells_from(
            self.ones, np.zeros(len(self.ones)), step.vertex, step.members, step.own + self.lanes
        )
        positions = self._lifted(step.table)
        table = gathered(product, positions, 0)
        out = np.zeros(1 << (len(step.dims) + self.lanes))
        if step.bit >= 0:
            base = 1 << (step.bit + self.lanes)
            out[: len(table)] = gathered(product, positions, base)
        _push(out, table, masks, np.exp(logs))
        return self._reduced(out)

    def _lifted(self, positions: IntArray) -> IntArray:
        return np.concatenate([np.arange(self.lanes), positions + self.lanes])

    def _reduced(self, table: FloatArray) -> FloatArray:
        kernels.reduce(table, self.primes)
        return table

    def _product(self, step: EliminationStep) -> FloatArray:
        if not step.children:
            return np.ones(len(self.primes))
        product = self.messages[step.children[0]]
        for join, child in zip(step.joins, step.children[1:], strict=True):
            product = self._join(join, product, self.messages[child])
        return product

    def _join(self, join: Join, left: FloatArray, right: FloatArray) -> FloatArray:
        """Join prime by prime: listed entries have another weight for each."""
        out = np.zeros((1 << len(join.dims), len(self.primes)))
        of_left, of_right = (t.reshape(-1, len(self.primes)) for t in (left, right))
        for lane in range(self.used):
            entries = gathered(of_right[:, lane].copy(), join.listed, 0)
            table = gathered(of_left[:, lane].copy(), join.dense, 0)
            nonzero = np.flatnonzero(entries)
            product = np.zeros(len(out))
            _push(product, table, nonzero << join.own, entries[nonzero])
            out[:, lane] = product
        return self._reduced(out.reshape(-1))


def _push(out: FloatArray, table: FloatArray, masks: IntArray, weights: FloatArray) -> None:
    bits = len(table).bit_length() - 1
    if dense.pays(masks, bits, len(out)):
        dense.push(out, table, masks, weights)
    else:
        kernels.push(SUM, out, table, bits, masks, weights)


def _primes_below(limit: int, log2_product: float) -> list[int]:
    """Return the largest primes below the limit, as many as their product needs."""
    primes: list[int] = []
    candidate = limit - 1
    while math.fsum(map(math.log2, primes)) < log2_product:
        if _is_prime(candidate):
            primes.append(candidate)
        candidate -= 2
    return primes


def _is_prime(n: int) -> bool:
    """Test by Miller and Rabin, with bases that decide every number below 2^64."""
    if any(n % p == 0 for p in WITNESSES):
        return n in WITNESSES
    twos = (n - 1 & 1 - n).bit_length() - 1
    for base in WITNESSES:
        x = pow(base, n - 1 >> twos, n)
        if x in (1, n - 1):
            continue
        if not any((x := x * x % n) == n - 1 for _ in range(twos - 1)):
            return False
    return True


def _chinese_remainder(residues: list[int], primes: list[int]) -> int:
    """Return the number below the product of the primes that leaves these residues."""
    number, modulus = 0, 1
    for residue, prime in zip(residues, primes, strict=True):
        number += modulus * ((residue - number) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    return number
