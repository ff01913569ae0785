"""Makes Markdown tables from the rows of all runs.

They have medians with the least and the greatest, ratios of medians, and geometric means of ratios.

The data are those that `compare.py --json` writes: `comparisons`, each with a `title`, a
description (`about`), the name of the contestant that the others are compared with (`ours`), and by
workload and contestant the rows of its runs. A comparison may name the `figures` to show, and a
rule for the `best` of several contestants (see `best` below).
"""

import math
import statistics

# Figure, heading, factor from seconds and bytes, digits.
COLUMNS = (
    ("gc", "GC CPU, s", 1, 3),
    ("mutator", "mutator CPU, s", 1, 3),
    ("cpu", "total CPU, s", 1, 3),
    ("user", "user, s", 1, 3),
    ("system", "system, s", 1, 3),
    ("heap", "peak heap, MiB", 1 / 2**20, 0),
    ("resident", "resident, MiB", 1 / 2**20, 0),
    ("faults", "minor faults, thousands", 1e-3, 1),
    ("pause", "longest pause, ms", 1e3, 1),
    ("copied", "copied, MB", 1e-6, 0),
    ("wall", "elapsed, s", 1, 3),
    ("gc_wall", "GC elapsed, s", 1, 3),
)

# The figures of a comparison that names none: it has one thread, so CPU time is shown and elapsed
# time is not.
USUAL = tuple(column[0] for column in COLUMNS if not column[0].endswith("wall"))

# Ratios that have a mean over all workloads.
MEANS = ("gc", "mutator", "user", "cpu", "heap", "resident", "wall", "gc_wall")


def median(rows, figure):
    """The median of a figure over runs, or `None` if the program does not print it."""
    values = [row[figure] for row in rows if row.get(figure) is not None]
    return statistics.median(values) if values else None


def ratio(ours, theirs, figure):
    """Our median divided by theirs; `None` where one is missing or theirs is 0."""
    a, b = median(ours, figure), median(theirs, figure)
    return a / b if a is not None and b else None


def geometric_mean(values):
    """The geometric mean of positive numbers; 0 if one of them is 0."""
    return math.exp(statistics.fmean(map(math.log, values))) if min(values) > 0 else 0.0


def cell(rows, figure, factor, digits):
    """The median, with the least and the greatest value where they differ."""
    values = [row[figure] * factor for row in rows if row.get(figure) is not None]
    if not values:
        return ""
    middle, least, most = (f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return middle if least == most else f"{middle} ({least}–{most})"


def table(header, lines):
    """A Markdown table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def show(value):
    return "" if value is None else f"{value:.2f}"


def others(comparison):
    """The names of all contestants but ours."""
    names = {name: None for by_name in comparison["workloads"].values() for name in by_name}
    return [name for name in names if name != comparison["ours"]]


def shown(comparison, figure):
    """Whether this comparison shows a figure."""
    return figure in comparison.get("figures", USUAL)


def best(comparison, by_name):
    """The name of the best contestant on one workload. The rule `best` has `of`, the beginning of
    the candidates' names, and `by`, the figure that the best one has least. `None` if there is no
    rule or no candidate."""
    rule = comparison.get("best")
    choice = [name for name in by_name if rule and name.startswith(rule["of"]) and median(by_name[name], rule["by"]) is not None]
    return min(choice, key=lambda name: median(by_name[name], rule["by"])) if choice else None


def best_of(comparison):
    """The heading for the best of several contestants."""
    return f"{comparison['best']['of']} at its best"


def details(comparison):
    """A table: a row for each contestant on each workload, and the ratios below."""
    ours, lines = comparison["ours"], []
    columns = [column for column in COLUMNS if shown(comparison, column[0])]
    for workload, by_name in comparison["workloads"].items():
        for name, rows in by_name.items():
            lines.append([workload, name, *(cell(rows, *column[:1], *column[2:]) for column in columns)])
        for name in others(comparison):
            if ours in by_name and name in by_name:
                ratios = (show(ratio(by_name[ours], by_name[name], column[0])) for column in columns)
                lines.append([workload, f"{ours} / {name}", *ratios])
        name = best(comparison, by_name)
        if ours in by_name and name:
            ratios = (show(ratio(by_name[ours], by_name[name], column[0])) for column in columns)
            lines.append([workload, f"{ours} / {best_of(comparison)} ({name})", *ratios])
    return table(["workload", "", *(column[1] for column in columns)], lines)


def with_best(comparison):
    """The comparison with the best of several as one more contestant, if it has a rule for that."""
    workloads = {}
    for workload, by_name in comparison["workloads"].items():
        name = best(comparison, by_name)
        workloads[workload] = by_name | ({best_of(comparison): by_name[name]} if name else {})
    return comparison | {"workloads": workloads}


def summary(comparisons):
    """A table: the geometric mean of each ratio over all workloads, and the worst ratio with its
    workload."""
    lines = []
    for comparison in map(with_best, comparisons):
        ours = comparison["ours"]
        for name in others(comparison):
            cells = []
            for figure in MEANS:
                ratios = {
                    workload: ratio(by_name[ours], by_name[name], figure)
                    for workload, by_name in comparison["workloads"].items()
                    if ours in by_name and name in by_name and shown(comparison, figure)
                }
                ratios = {workload: value for workload, value in ratios.items() if value is not None}
                if ratios:
                    worst = max(ratios, key=ratios.get)
                    cells.append(f"{geometric_mean(ratios.values()):.2f} ({ratios[worst]:.2f} {worst})")
                else:
                    cells.append("")
            lines.append([comparison["title"], f"{ours} / {name}", *cells])
    # A column that no comparison has is left out. So comparisons of one thread do not get the
    # columns of threads.
    used = [place for place, figure in enumerate(MEANS) if figure in USUAL or any(line[2 + place] for line in lines)]
    lines = [line[:2] + [line[2 + place] for place in used] for line in lines]
    heads = {"wall": "elapsed", "gc_wall": "GC elapsed", "gc": "GC CPU", "mutator": "mutator CPU", "user": "user CPU", "cpu": "total CPU", "heap": "peak heap"}
    return table(["comparison", "", *(heads.get(MEANS[place], MEANS[place]) for place in used)], lines)


def document(data):
    """The Markdown text of all tables."""
    setting = "; ".join(f"{key}: {value}" for key, value in data["setting"].items())
    parts = [setting, "Geometric means of the ratios of medians over the workloads, and in brackets the worst:"]
    parts.append(summary(data["comparisons"]))
    for comparison in data["comparisons"]:
        parts += [f"### {comparison['title']}", comparison["about"], details(comparison)]
        failures = comparison["failures"]
        parts += [f"{failure['contestant']} did not finish {failure['workload']}." for failure in failures]
    return "\n\n".join(parts) + "\n"


# The marks around the tables in a page.
BEGIN, END = "<!-- compare.py: begin -->\n", "<!-- compare.py: end -->\n"


def replaced(page, text):
    """The page with `text` between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"compare.py: the page has no lines {BEGIN.strip()} and, below, {END.strip()}")
    return f"{before}{begin}\n{text}\n{end}{after}"
