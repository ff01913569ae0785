#!/usr/bin/env python3
"""A model, not a measurement, of collections with more threads than this project was measured with.

It simulates the exchange of core/src/workers/termination.rs, event by event, with costs that were
measured with one and two threads:

* A thread copies a chunk of to-space (32 KiB) in the time that copying takes serially, times the
  cost of sharing (`SHARING`).
* For each chunk it briefly holds the heap's lock, one thread at a time.
* When a chunk is full, the thread looks for idle threads. If there is one, and the thread's own
  queue is empty, it offers half of its known work.
* Helpers wake one after another, and take a piece as soon as there is one.
* One thread works alone before the others are called and after they have finished.

The model ignores memory bandwidth, which real machines run out of, and distances between
processors. So it is an upper bound for the algorithm, and shows at how many threads the algorithm
itself stops scaling. The shapes are balanced trees (every subtree can be cut in two), a
list (it cannot be cut) and an array of byte arrays. Run it to print scaling-model.csv as a table.
"""

import heapq

# Measured: see scaling-costs.csv. Times in microseconds.
CHUNK = 32 << 10  # bytes
COPY = {"tree": 9.0e-3 / 24, "list": 9.0e-3 / 24, "array": 0.12e-3}  # for each byte, serially
SHARING = 1.15  # a thread's time for some work in parallel, divided by its time for it serially
LOCK = 0.2  # for each chunk: 0.035 held, the rest to bring the lock's line from another processor
STEAL = 1.0  # to find and take a piece
WAKE, WAKE_NEXT = 30.0, 5.0  # the first helper, and each further one
BEFORE = 256 << 10  # bytes copied before others are called
ALONE_CHUNK = 0.02  # for each chunk that one thread condemns and frees

THREADS = (1, 2, 4, 8, 16, 32, 64)
CASES = (
    ("tree", 12 << 20),
    ("tree", 200 << 20),
    ("tree", 4 << 30),
    ("array", 200 << 20),
    ("list", 200 << 20),
)


def halves(known):
    """Cuts subtrees that were reached but not copied: each counts as its two halves."""
    known.sort()
    while known and len(known) < 16 and known[-1] > 2 * CHUNK:
        largest = known.pop()
        known += [largest // 2, largest - largest // 2]
        known.sort()


def pause(shape, size, threads):
    """The microseconds that a collection takes to copy `size` bytes of `shape`."""
    chunk = CHUNK * COPY[shape]
    alone = size / CHUNK * ALONE_CHUNK
    if threads == 1 or shape == "list":
        return alone + size / CHUNK * (chunk + LOCK)
    before = min(BEFORE, size)
    start = before / CHUNK * (chunk + LOCK)
    # Sizes of the subtrees that each thread knows and has not copied yet. Pieces on offer, oldest
    # first.
    known = [[] for _ in range(threads)]
    known[0], offered, hungry = [size - before], [], []
    lock_free, end = 0.0, start
    events = [(start, 0)] + [(start + WAKE + WAKE_NEXT * i, i + 1) for i in range(threads - 1)]
    heapq.heapify(events)
    while events:
        now, thread = heapq.heappop(events)
        mine = known[thread]
        if not mine:
            if not offered:
                hungry.append(thread)
                continue
            mine += offered.pop(0)
            now += STEAL
        # Copies one chunk of the smallest known subtree: scavenging goes deeper before it moves on.
        left = CHUNK
        mine.sort(reverse=True)
        while mine and left:
            take = min(mine[-1], left)
            left -= take
            mine[-1] -= take
            if not mine[-1]:
                mine.pop()
        got = max(now, lock_free)
        lock_free = got + LOCK
        now = got + LOCK + chunk * SHARING * (CHUNK - left) / CHUNK
        end = max(end, now)
        if mine and hungry and not offered:
            halves(mine)
            mine.sort(reverse=True)
            if len(mine) > 1:
                half = len(mine) // 2
                offered.append(mine[:half])
                known[thread] = mine[half:]
                heapq.heappush(events, (now, hungry.pop()))
        heapq.heappush(events, (now, thread))
    return end + alone


def main():
    print("| shape | copied | " + " | ".join(f"{n} threads" if n > 1 else "1 thread" for n in THREADS) + " |")
    print("|---|---|" + "---|" * len(THREADS))
    for shape, size in CASES:
        times = [pause(shape, size, n) for n in THREADS]
        cells = [f"{times[0] / 1000:.1f} ms"] + [f"{times[0] / t:.1f}" for t in times[1:]]
        print(f"| {shape} | {size >> 20} MiB | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
