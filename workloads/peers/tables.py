"""From the rows of all runs to Markdown: medians with the least and the greatest, ratios of medians, geometric means of the ratios.

The data are what `compare.py --json` writes: `comparisons`, each with a `title`, what it shows (`about`), the name of the contestant that the others
are held against (`ours`), perhaps which `figures` tell anything, perhaps which is the `best` of several (below), and by workload and contestant the rows of its runs.
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
    ("pause", "longest pause, ms", 1e3, 1),
    ("copied", "copied, MB", 1e-6, 0),
    ("wall", "elapsed, s", 1, 3),
    ("gc_wall", "GC elapsed, s", 1, 3),
)

# What a comparison shows that does not say otherwise: it is of one thread, and CPU time is what it takes.
USUAL = tuple(column[0] for column in COLUMNS if not column[0].endswith("wall"))

# Ratios that have a mean over all workloads.
MEANS = ("gc", "mutator", "user", "cpu", "heap", "resident", "wall", "gc_wall")


def median(rows, figure):
    """The median of a figure over runs, or `None` if the program does not say."""
    values = [row[figure] for row in rows if row.get(figure) is not None]
    return statistics.median(values) if values else None


def ratio(ours, theirs, figure):
    """Ours by theirs, of medians; `None` where there is no such thing."""
    a, b = median(ours, figure), median(theirs, figure)
    return a / b if a is not None and b else None


def geometric_mean(values):
    """Of positive numbers; 0 if one of them is 0."""
    return math.exp(statistics.fmean(map(math.log, values))) if min(values) > 0 else 0.0


def cell(rows, figure, factor, digits):
    """Median, and the least and the greatest where they differ."""
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
    """The names of the contestants that ours is compared with."""
    names = {name: None for by_name in comparison["workloads"].values() for name in by_name}
    return [name for name in names if name != comparison["ours"]]


def shown(comparison, figure):
    """Whether a figure tells anything in this comparison."""
    return figure in comparison.get("figures", USUAL)


def best(comparison, by_name):
    """Of the contestants of one workload, the name of the one that is best: `best` says `of` which, as the beginning of their names, and `by` which figure it is the
    least. `None` if there is nothing to choose."""
    rule = comparison.get("best")
    choice = [name for name in by_name if rule and name.startswith(rule["of"]) and median(by_name[name], rule["by"]) is not None]
    return min(choice, key=lambda name: median(by_name[name], rule["by"])) if choice else None


def best_of(comparison):
    """What the best of several is called."""
    return f"{comparison['best']['of']} at its best"


def details(comparison):
    """A row for each contestant on each workload, and the ratios below."""
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
    """The comparison with the best of several as a contestant, if it asks for that."""
    workloads = {}
    for workload, by_name in comparison["workloads"].items():
        name = best(comparison, by_name)
        workloads[workload] = by_name | ({best_of(comparison): by_name[name]} if name else {})
    return comparison | {"workloads": workloads}


def summary(comparisons):
    """Geometric mean of each ratio over all workloads, and the worst with its workload."""
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
    # A column that no comparison has is left out, so that those of one thread look as they do alone.
    used = [place for place, figure in enumerate(MEANS) if figure in USUAL or any(line[2 + place] for line in lines)]
    lines = [line[:2] + [line[2 + place] for place in used] for line in lines]
    heads = {"wall": "elapsed", "gc_wall": "GC elapsed", "gc": "GC CPU", "mutator": "mutator CPU", "user": "user CPU", "cpu": "total CPU", "heap": "peak heap"}
    return table(["comparison", "", *(heads.get(MEANS[place], MEANS[place]) for place in used)], lines)


def document(data):
    """All tables."""
    setting = "; ".join(f"{key}: {value}" for key, value in data["setting"].items())
    parts = [setting, "Geometric means of the ratios of medians over the workloads, and in brackets the worst:"]
    parts.append(summary(data["comparisons"]))
    for comparison in data["comparisons"]:
        parts += [f"### {comparison['title']}", comparison["about"], details(comparison)]
        failures = comparison["failures"]
        parts += [f"{failure['contestant']} did not finish {failure['workload']}." for failure in failures]
    return "\n\n".join(parts) + "\n"


# Where a page has the tables.
BEGIN, END = "<!-- compare.py: begin -->\n", "<!-- compare.py: end -->\n"


def replaced(page, text):
    """The page with `text` between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"compare.py: the page has no lines {BEGIN.strip()} and, below, {END.strip()}")
    return f"{before}{begin}\n{text}\n{end}{after}"
