#!/usr/bin/env python3
"""The checksums of the workloads, computed without an object graph: `oracle.py WORKLOAD ARGS...`.

Prints them as the programs do.

A formula, a list or a set stands in for the data that the programs build on a heap, so that a mistake
shared by all programs is still found.
"""

import sys

WORD = (1 << 64) - 1


def mix(key):
    """One number of SplitMix64, from the state `key`."""
    z = (key + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def draws(seed):
    """The numbers of SplitMix64, one after another."""
    while True:
        yield mix(seed)
        seed = (seed + 0x9E3779B97F4A7C15) & WORD


def tree(depth):
    """The number of nodes in a complete tree."""
    return (1 << (depth + 1)) - 1


def binary_trees(n):
    deepest = max(n, 6)
    short = sum((1 << (deepest - depth + 4)) * tree(depth) for depth in range(4, deepest + 1, 2))
    return tree(deepest + 1) + short + tree(deepest)


def gcbench(stretch, long_lived, array):
    trees = sum(2 * (2 * tree(stretch) // tree(depth)) for depth in range(4, long_lived + 1, 2))
    return tree(long_lived) + array // 2 + trees


def long_list(n, m, bits=64):
    numbers = draws(1)
    return 45 * m + sum(next(numbers) >> (64 - bits) for _ in range(n))


def mut_array(n, updates):
    slots, numbers = list(range(n)), draws(2)
    for _ in range(updates):
        index = next(numbers) % n
        slots[index] = next(numbers)
    return sum(slots)


def hash_churn(_buckets, keys, updates):
    present, numbers = set(), draws(3)
    for _ in range(updates):
        present ^= {next(numbers) % keys}
    return sum(key + 16 + key % 48 + key % 256 for key in present)


def message_window(window, messages, _bytes):
    return sum(key + key % 256 for key in range(max(0, messages - window), messages))


def ocaml_gc(slots, updates):
    chains, numbers, made = [[] for _ in range(slots)], draws(6), 0
    for turn in range(slots + 8 * updates):
        slot = turn if turn < slots else next(numbers) % slots
        draw = next(numbers)
        payload = 8 * (1 + (draw >> 4) % (16 if draw % 16 else 192)) + made % 256
        chains[slot] = (chains[slot] if len(chains[slot]) < 3 else []) + [payload]
        made += 1
    return sum(sum(chain) for chain in chains)


def ephemeron_chain(n, rounds):
    return rounds * n * (n + 1) // 2 + n


def hash_cons(n, updates):
    def leaf(number):
        return mix(number % 1000) >> 4, 0

    slots, numbers = [leaf(k) for k in range(n)], draws(7)
    for _ in range(updates):
        i, j, k = (next(numbers) % n for _ in range(3))
        number = next(numbers)
        (left, left_depth), (right, right_depth) = slots[i], slots[j]
        depth = 1 + max(left_depth, right_depth)
        slots[k] = (mix((left + 3 * right) % (1 << 60)) >> 4, depth) if depth <= 4 else leaf(number)
    return sum(term for term, _ in slots) + n


def par_trees(threads, n):
    return sum(binary_trees(n - thread) for thread in range(threads))


def par_skewed(threads, rounds, kept):
    total = 0
    for thread in range(threads):
        numbers, lists = draws(4 + thread), {}
        cells = 4 << thread
        for turn in range(rounds):
            values = sum(next(numbers) for _ in range(cells))
            total += sum(next(numbers) for _ in range((4 << (threads - 1)) - cells))
            if turn % 16 == 0:
                lists[turn // 16 % kept] = values
        total += sum(lists.values())
    return total


def par_shared(_threads, _buckets, keys, updates):
    present, numbers = set(), draws(5)
    for _ in range(updates):
        present ^= {next(numbers) % keys}
    return sum(key + 16 + key % 48 + key % 256 for key in present)


def server(_threads, requests, slots, _rate):
    total = 0
    for request in range(requests):
        numbers = draws(mix(request))
        popular = 1 + next(numbers) % (4 * slots)
        key = next(numbers) % popular
        total += sum(next(numbers) for _ in range(500)) + key + 2 * (key % 256)
    return total


# The peak of live bytes, from the arguments: objects x their size with a one-word header. gcbench:
# its first tree. hash_churn: half of the keys are present, each an entry of four words and 39.5
# bytes on average; and the table.
LIVE = {
    "binary_trees": lambda depth: (2 ** (depth + 2) - 1) * 24,
    "gcbench": lambda first, depth, array: (2 ** (first + 1) - 1) * 40,
    "long_list": lambda cells, short, bits=64: cells * 24,
    "mut_array": lambda slots, stores: slots * (8 + 16),
    "hash_churn": lambda buckets, keys, updates: keys // 2 * (32 + 51) + buckets * 8,
    "message_window": lambda window, messages, size: window * (48 + 8 + size),
    "server": lambda threads, requests, slots, rate: slots * (8 + 24 + 16 + 1000),
}


def live(workload, args):
    """The peak of live bytes in a run of a workload with these arguments."""
    return LIVE[workload](*map(int, args))


def checksum(workload, args):
    """The checksum of a workload with these arguments."""
    return globals()[workload](*map(int, args)) & WORD


if __name__ == "__main__":
    print(f"{sys.argv[1]} checksum={checksum(sys.argv[1], sys.argv[2:])}")
