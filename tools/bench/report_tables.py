# SPDX-License-Identifier: GPL-2.0
"""What the sections' tables and drawings have in common."""
import report_plots as plots
from report_data import OURS, amount, cell, name, options_of, scale

OUR_NAMES = {name(t) for t in OURS}


def cross_table(page, results, records, columns, of=None):
    """Rows are transports; columns pairs: a head, and what its records are like.

    of: the experiment whose transports that are not measured have rows too, which say why.
    """
    columns = [(head, wanted) for head, wanted in columns
               if any(all(r.get(k) == v for k, v in wanted.items()) for r in records)]
    rows = []
    for transport in results.transports(records):
        row = [name(transport)]
        for _, wanted in columns:
            found = [r for r in records if r["transport"] == transport
                     and all(r.get(k) == v for k, v in wanted.items())]
            row.append(cell(found[0]) if found else "")
        rows.append(row)
    if of:
        rows += [[name(t), "not measured: " + why] for t, why in results.impossible(of, records).items()]
    page.table(["median (least–most)"] + [head for head, _ in columns], rows, OUR_NAMES)


def unit_of(records):
    """What the table's figures are in."""
    return scale(records[0]["unit"])[1]


def points(records, key):
    """For plots.lines: by transport."""
    series = {}
    for record in records:
        factor = scale(record["unit"])[0]
        if record["median"] > 0:
            series.setdefault(record["transport"], []).append(
                (record[key], record["median"] * factor, record["min"] * factor,
                 record["max"] * factor))
    return series


def placement(cpus):
    """Where the two processes ran."""
    return "one processor" if cpus == 1 else "two processors"


def against_size(page, results, experiment, metric, title):
    """A drawing and a table with a column a size."""
    records = [r for r in results.select(experiment, metric=metric) if not options_of(r)]
    if not records:
        return
    page.heading(3, title)
    page.plot(plots.lines(points(records, "size"), title, "bytes a message", unit_of(records)))
    cross_table(page, results, records, [
        ("%s, %s" % (amount(size), unit_of(records)) if not number else amount(size),
         {"size": size}) for number, size in enumerate(results.values(experiment, "size",
                                                                      metric=metric))])
