# SPDX-License-Identifier: GPL-2.0
"""Drawings for the report: lines over a logarithmic axis, and histograms, as SVG."""
import io

import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from report_data import LIMITS, NAMES, OURS, name  # noqa: E402

matplotlib.rcParams.update({"svg.hashsalt": "speed", "svg.fonttype": "none", "font.size": 9,
                            "axes.spines.top": False, "axes.spines.right": False,
                            "axes.grid": True, "grid.color": "#e4e4e4"})
LIMIT_LINES = (":", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 4)))
COLOURS = list(plt.get_cmap("tab20").colors)


def style(transport):
    """Ours are thick; each has its own colour on every drawing."""
    if transport in LIMITS:
        return {"color": "black", "linewidth": 1, "label": name(transport),
                "linestyle": LIMIT_LINES[sorted(LIMITS).index(transport) % len(LIMIT_LINES)]}
    number = list(NAMES).index(transport) if transport in NAMES else 0
    ours = transport in OURS
    return {"color": COLOURS[number % len(COLOURS)], "linewidth": 2.2 if ours else 1.2,
            "linestyle": "-" if ours else "--", "marker": "o" if ours else ".",
            "markersize": 4, "label": name(transport)}


def finish(figure, axes, title, across, up):
    """The SVG's text."""
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    text = out.getvalue()
    return text[text.index("<svg"):]


def lines(series, title, across, up):
    """Series: {transport: [(x, median, min, max)]}; both axes are logarithmic."""
    series = {t: points for t, points in series.items() if len(points) > 1}
    if not series:
        return None
    figure, axes = plt.subplots(figsize=(8, 4.2))
    for transport, points in series.items():
        points = sorted(points)
        looks = style(transport)
        across_values = [p[0] for p in points]
        axes.plot(across_values, [p[1] for p in points], **looks)
        axes.fill_between(across_values, [p[2] for p in points], [p[3] for p in points],
                          color=looks["color"], alpha=0.12, linewidth=0)
    axes.set_xscale("log", base=2 if "byte" in across else 10)
    axes.set_yscale("log")
    return finish(figure, axes, title, across, up)


def bars(buckets):
    """All buckets from the first to the last one with its end; four double the value."""
    counts = dict(buckets)
    first, last = min(counts), max(counts)
    starts = [(4 + i % 4) << (i // 4 - 2) for i in range(8, 164)]
    starts = [start for start in starts if first <= start] if first >= 4 else [0] + starts
    end = next((n for n, start in enumerate(starts) if start > last), len(starts) - 1)
    return starts[:end + 1], [counts.get(start, 0) for start in starts[:end]] + [0]


def histograms(records, title, across, factor):
    """How the times are spread: the share of each bucket, buckets as they were counted."""
    if not records:
        return None
    figure, axes = plt.subplots(figsize=(8, 3.6))
    for record in records:
        total = sum(count for _, count in record["buckets"])
        looks = style(record["transport"])
        starts, counts = bars(record["buckets"])
        axes.step([start * factor for start in starts],
                  [100 * count / total for count in counts], where="post",
                  color=looks["color"], linewidth=looks["linewidth"],
                  linestyle=looks["linestyle"], label=looks["label"])
    axes.set_xscale("log")
    return finish(figure, axes, title, across, "% of the calls")
