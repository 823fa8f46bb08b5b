# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What was measured, as an aligned table, as targets met or missed, and as JSON."""

import json
import statistics


def p95(samples):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


class Row:
    def __init__(self, name, samples, unit, base):
        self.name, self.samples, self.unit, self.base = name, samples, unit, base

    @property
    def median(self):
        return statistics.median(self.samples)

    @property
    def p95(self):
        return p95(self.samples)

    def ratio(self, value):
        return value / self.base.median if self.base is not None and self.base.median else None

    def cells(self):
        def number(value):
            return "" if value is None else f"{value:.4f}" if value < 0.01 else f"{value:.3f}" if value < 10 else f"{value:.1f}"
        base = self.base is not None and self.base is not self
        return [self.name, str(len(self.samples)), number(self.median), number(self.p95), self.unit,
                number(self.ratio(self.median)) if base else "", number(self.ratio(self.p95)) if base else ""]


class Report:
    def __init__(self, context):
        self.context = context
        self.sections = []
        self.targets = []

    def section(self, title):
        self.sections.append((title, []))
        print(f"… {title}", flush=True)

    def row(self, name, samples, unit="ms", base=None):
        """base: the row whose median the ratios are of."""
        row = Row(name, list(samples), unit, base)
        self.sections[-1][1].append(row)
        return row

    def target(self, name, value, limit, at_least=False):
        met = value >= limit if at_least else value <= limit
        self.targets.append({"target": name, "value": value, "limit": limit, "at_least": at_least, "met": met})

    def print(self):
        head = ["", "n", "median", "p95", "", "ratio", "p95 ratio"]
        rows = [row.cells() for _, rows in self.sections for row in rows]
        widths = [max(len(cells[i]) for cells in [head, *rows]) for i in range(len(head))]

        def line(cells):
            return "  ".join(cell.ljust(width) if i in (0, 4) else cell.rjust(width)
                             for i, (cell, width) in enumerate(zip(cells, widths))).rstrip()
        for title, rows in self.sections:
            print(f"\n{title}")
            print(line(head))
            for row in rows:
                print(line(row.cells()))
        if self.targets:
            print("\nTargets")
        for target in self.targets:
            sign = ">=" if target["at_least"] else "<="
            print(f"  {'met   ' if target['met'] else 'MISSED'}  {target['target']}: {target['value']:.3f} {sign} {target['limit']}")

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"context": self.context, "targets": self.targets,
                       "sections": [{"title": title, "rows": [
                           {"name": row.name, "unit": row.unit, "n": len(row.samples), "median": row.median, "p95": row.p95,
                            "base": row.base.name if row.base is not None else None, "ratio": row.ratio(row.median),
                            "p95_ratio": row.ratio(row.p95), "samples": row.samples} for row in rows]}
                           for title, rows in self.sections]}, file, indent=1)
            file.write("\n")
