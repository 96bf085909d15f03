"""The workloads of firesteel-bench for systems that run Python functions.

A system gives `submit`, `split` and `gather`; tasks work on whole partitions with NumPy, as users of such systems write
them. Called with a workload, how often to run it untimed and timed, and its sizes as words `name=value`; prints one line
that begins with RESULT. Data and digests are those of crates/bench/src.
"""

import collections
import json
import os
import sys
import time

import numpy as np

PARTS = 4
U64 = np.uint64


# Numbers for digests. Arrays of uint64 wrap around, as they should.

def mix(x):
    x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
    return x ^ (x >> U64(31))


def row(a, b):
    return mix(mix(a) + b)


def digest(rows):
    """A number of rows and the sum of their mixed numbers."""
    return len(rows), int(mix(rows).sum(dtype=U64))


def digest_text(parts):
    rows, total = (sum(values) for values in zip(*parts))
    return f"{rows}:{total % 2**64:016x}"


def part_of(n, parts, index):
    return n * index // parts, n * (index + 1) // parts


def numbers(start, end):
    return np.arange(start, end, dtype=U64)


def chunks(start, end, size=1 << 20):
    """A large range in pieces that fit in a cache."""
    for at in range(start, end, size):
        yield numbers(at, min(at + size, end))


# Tasks.

def nothing(_):
    return None


def length(values):
    return len(values)


def tiny_map(index):
    counts = [collections.Counter(), collections.Counter()]
    for x in range(50 * index + 1, 50 * index + 51):
        counts[x % 10 % 2][x % 10] += 1
    return counts


def tiny_reduce(*counters):
    return sum(counters, collections.Counter())


def narrow(start, end):
    for x in chunks(start, end):
        x = x * U64(3) + U64(1)
        yield x[x % U64(7) == 0] ^ U64(5)


def narrow_count(start, end):
    return sum(len(x) for x in narrow(start, end))


def narrow_digest(start, end):
    return tuple(map(sum, zip(*map(digest, narrow(start, end)), (0, 0))))


def line_start(file, offset):
    """The first start of a line at or behind an offset."""
    if offset == 0:
        return 0
    file.seek(offset - 1)
    file.readline()
    return file.tell()


def word_map(path, start, end):
    """Counts the words of the lines that begin in a part of a file, by part."""
    counts = collections.Counter()
    with open(path, "rb") as file:
        end = line_start(file, end)
        at = line_start(file, start)
        file.seek(at)
        while at < end:
            text = file.read(min(1 << 20, end - at))
            if not text.endswith(b"\n"):
                text += file.readline()
            counts.update(text.split())
            at = file.tell()
    parts = [{} for _ in range(PARTS)]
    for word, count in counts.items():
        parts[fnv(word) % PARTS][word] = count
    return parts


def fnv(text):
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def word_reduce(*counters):
    total = collections.Counter()
    for counter in counters:
        total.update(counter)
    return total


def word_digest(counts):
    words = np.array([fnv(word) for word in counts], dtype=U64)
    return digest(row(words, np.array(list(counts.values()), dtype=U64)))


def sum_map(start, end):
    """Keys and their counts, by part."""
    keys = numbers(start, end) * U64(2654435761) % U64(1_000_000)
    keys, counts = np.unique(keys, return_counts=True)
    parts = keys % U64(PARTS)
    return [(keys[parts == part], counts[parts == part].astype(U64)) for part in range(PARTS)]


def sum_reduce(*pieces):
    keys, where = np.unique(np.concatenate([keys for keys, _ in pieces]), return_inverse=True)
    sums = np.bincount(where, weights=np.concatenate([sums for _, sums in pieces]), minlength=len(keys))
    return keys, sums.astype(U64)


def sum_count(sums):
    return len(sums[0])


def sum_digest(sums):
    return digest(row(*sums))


def scrambled(x):
    return (x * U64(6364136223846793005) + U64(1442695040888963407)).astype(np.int64)


def sort_map(start, end, bounds):
    x = numbers(start, end)
    keys = scrambled(x)
    parts = np.searchsorted(bounds, keys, side="right")
    return [(keys[parts == part], x[parts == part]) for part in range(PARTS)]


def sort_reduce(*pieces):
    keys = np.concatenate([keys for keys, _ in pieces])
    order = np.argsort(keys, kind="stable")
    return keys[order], np.concatenate([x for _, x in pieces])[order]


def ordered_digest(sorted_rows):
    keys, x = sorted_rows
    mixed = mix(row(keys.astype(U64), x))
    places = numbers(1, len(mixed) + 1)
    return len(mixed), int(mixed.sum(dtype=U64)), int((mixed * places).sum(dtype=U64))


def double_sum(start, end):
    return int((numbers(start, end) * U64(2)).sum())


def clock(_):
    return time.time_ns()


def work(micros):
    start = time.perf_counter_ns()
    while time.perf_counter_ns() - start < micros * 1000:
        pass


# Workloads: each gives a function for the whole answer and one to be timed, which gives its answer and figures.

def empty_tasks(system, sizes):
    tasks = range(sizes["tasks"])
    check = lambda: digest_text([digest(np.array(system.map(abs, tasks), dtype=U64))])
    return check, lambda: (system.map(nothing, tasks) and None, {})


def tiny_jobs(system, sizes):
    count = lambda: sum(sum(system.map(length, [[1], [2]])) for _ in range(sizes["jobs"]))
    return lambda: str(count()), lambda: (count(), {})


def tiny_shuffle_jobs(system, sizes):
    def counts():
        return shuffle(system, tiny_map, [(0,), (1,)], tiny_reduce, 2)

    def check():
        pairs = [pair for counter in system.gather(counts()) for pair in counter.items()]
        keys, values = np.array(pairs, dtype=U64).T
        return digest_text([digest(row(keys, values))])

    jobs = sizes["jobs"]
    return check, lambda: (sum(sum(system.each(length, counts())) for _ in range(jobs)) // jobs, {})


def shuffle(system, mapper, inputs, reducer, parts):
    pieces = [system.split(mapper, parts, *arguments) for arguments in inputs]
    return [system.submit(reducer, *[piece[part] for piece in pieces]) for part in range(parts)]


def ranges(n):
    return [part_of(n, PARTS, index) for index in range(PARTS)]


def narrow_pipeline(system, sizes):
    parts = ranges(sizes["rows"])
    check = lambda: digest_text(system.starmap(narrow_digest, parts))
    return check, lambda: (sum(system.starmap(narrow_count, parts)), {})


def wordcount(system, sizes):
    path = os.path.join(sizes["data"], "text.txt")
    parts = [(path, *part) for part in ranges(os.path.getsize(path))]
    counts = lambda: shuffle(system, word_map, parts, word_reduce, PARTS)
    check = lambda: digest_text(system.each(word_digest, counts()))
    return check, lambda: (sum(system.each(length, counts())), {})


def reduce_by_key(system, sizes):
    sums = lambda: shuffle(system, sum_map, ranges(sizes["rows"]), sum_reduce, PARTS)
    check = lambda: digest_text(system.each(sum_digest, sums()))
    return check, lambda: (sum(system.each(sum_count, sums())), {})


def sort_by_key(system, sizes):
    rows = sizes["rows"]

    def sort():
        sample = np.sort(scrambled(np.arange(0, rows, max(rows // 1000, 1), dtype=U64)))
        bounds = sample[[len(sample) * part // PARTS for part in range(1, PARTS)]]
        return shuffle(system, sort_map, [(*part, bounds) for part in ranges(rows)], sort_reduce, PARTS)

    def check():
        before, by_place = 0, 0
        for count, total, part in system.each(ordered_digest, sort()):
            by_place += part + total * before
            before += count
        return f"{before}:{by_place % 2**64:016x}"

    return check, lambda: (system.each(sum_count, sort()) and None, {})


def cold_start(system, sizes):
    parts = [part_of(sizes["rows"], 2, index) for index in range(2)]
    return lambda: str(sum(system.starmap(double_sum, parts))), None


def latency(system, sizes):
    jobs = sizes["jobs"]

    def run():
        waits = []
        for _ in range(jobs):
            submitted = time.time_ns()
            waits.append(min(system.map(clock, range(2))) - submitted)
        waits.sort()
        return jobs, {"p50_us": waits[jobs // 2] / 1e3, "p99_us": waits[jobs * 99 // 100] / 1e3}

    return lambda: str(jobs), run


def efficiency(system, sizes):
    tasks, micros = sizes["tasks"], sizes["micros"]
    check = lambda: str(len(system.map(nothing, range(tasks))))
    return check, lambda: (system.map(work, [micros] * tasks) and None, {})


WORKLOADS = {
    "empty_tasks": empty_tasks,
    "tiny_jobs": tiny_jobs,
    "tiny_shuffle_jobs": tiny_shuffle_jobs,
    "narrow_pipeline": narrow_pipeline,
    "wordcount": wordcount,
    "wordcount_strings": wordcount,
    "reduce_by_key": reduce_by_key,
    "sort_by_key": sort_by_key,
    "cold_start": cold_start,
    "latency": latency,
    "efficiency_100us": efficiency,
    "efficiency_1ms": efficiency,
    "efficiency_10ms": efficiency,
    "efficiency_100ms": efficiency,
}


def peak_bytes():
    """The peaks of this process and of all below it."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stat:
                parents[int(name)] = int(stat.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    family = {os.getpid()}
    while below := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= below
    total = 0
    for pid in family:
        try:
            with open(f"/proc/{pid}/status") as status:
                total += sum(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))
        except OSError:
            pass
    return total


def main(system):
    """Runs what the command line says on a system, which is stopped in the end."""
    name, warm, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    words = [word.split("=", 1) for word in sys.argv[4:]]
    sizes = {key: int(value) if value.isdigit() else value for key, value in words}
    try:
        check, run = WORKLOADS[name](system, sizes)
        checksum, seconds, figures = check(), [], {}
        for turn in range(warm + runs if run else 0):
            start = time.perf_counter()
            answer, metrics = run()
            elapsed = time.perf_counter() - start
            if answer is not None and checksum.split(":")[0] != str(answer):
                raise SystemExit(f"a run gave {answer}, which is not {checksum}")
            if turn >= warm:
                seconds.append(elapsed)
                figures = metrics
        report = {"seconds": seconds, "checksum": checksum, "peak_resident_bytes": peak_bytes(), "metrics": figures}
        print("RESULT " + json.dumps(report), flush=True)
    finally:
        system.stop()
