# SPDX-License-Identifier: GPL-2.0
"""A page as a list of blocks, written as HTML and as Markdown."""
import html

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em;
       color: #222; background: #fff; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; margin: .8em 0; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ddd; padding: .2em .6em; text-align: right;
         white-space: nowrap; font-size: 13px; }
th:first-child, td:first-child { text-align: left; } th { background: #f4f4f4; }
tr.ours td:first-child { font-weight: 600; } td.rest { text-align: left; }
.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
nav a { margin-right: 1em; }
"""


class Page:
    """Blocks in order; text is plain."""

    def __init__(self, title):
        self.title = title
        self.blocks = []

    def heading(self, level, text):
        """A heading of level 2 or 3."""
        self.blocks.append(("heading", level, text))

    def text(self, text):
        """A paragraph."""
        self.blocks.append(("text", text))

    def items(self, lines):
        """A list."""
        if lines:
            self.blocks.append(("items", lines))

    def table(self, head, rows, ours=()):
        """A table; rows whose first cell is among ours stand out."""
        if rows:
            self.blocks.append(("table", head, rows, set(ours)))

    def plot(self, svg):
        """A drawing."""
        if svg:
            self.blocks.append(("plot", svg))

    def html(self):
        """All in one file."""
        out = ["<!doctype html><html lang=en><head><meta charset=utf-8>",
               "<meta name=viewport content='width=device-width'>",
               "<title>%s</title><style>%s</style></head><body>" % (html.escape(self.title), STYLE),
               "<h1>%s</h1>" % html.escape(self.title), "<nav>"]
        for number, block in enumerate(self.blocks):
            if block[0] == "heading" and block[1] == 2:
                out.append("<a href='#s%d'>%s</a>" % (number, html.escape(block[2])))
        out.append("</nav>")
        for number, block in enumerate(self.blocks):
            out.append(getattr(self, "_html_" + block[0])(number, *block[1:]))
        return "\n".join(out + ["</body></html>\n"])

    def _html_heading(self, number, level, text):
        return "<h%d id=s%d>%s</h%d>" % (level, number, html.escape(text), level)

    def _html_text(self, _, text):
        return "<p>%s</p>" % html.escape(text)

    def _html_items(self, _, lines):
        return "<ul>%s</ul>" % "".join("<li>%s</li>" % html.escape(line) for line in lines)

    def _html_table(self, _, head, rows, ours):
        out = ["<div class=wide><table><tr>"]
        out += ["<th>%s</th>" % html.escape(text) for text in head]
        out.append("</tr>")
        for row in rows:
            out.append("<tr%s>" % (" class=ours" if row[0] in ours else ""))
            out += ["<td>%s</td>" % html.escape(text) for text in row[:-1]]
            # A row that is too short: its last cell takes the rest.
            out.append("<td%s>%s</td>" % (" class=rest colspan=%d" % (1 + len(head) - len(row))
                                          if len(row) < len(head) else "", html.escape(row[-1])))
            out.append("</tr>")
        return "".join(out) + "</table></div>"

    def _html_plot(self, _, svg):
        return "<div class=wide>%s</div>" % svg

    def markdown(self):
        """The same without the drawings."""
        out = ["# " + self.title, ""]
        for block in self.blocks:
            kind, rest = block[0], block[1:]
            if kind == "heading":
                out += ["#" * rest[0] + " " + rest[1], ""]
            elif kind == "text":
                out += [rest[0], ""]
            elif kind == "items":
                out += ["- " + line for line in rest[0]] + [""]
            elif kind == "table":
                out += self._markdown_table(rest[0], rest[1]) + [""]
        return "\n".join(out)

    @staticmethod
    def _markdown_table(head, rows):
        rows = [row + [""] * (len(head) - len(row)) for row in rows]
        lines = [head, [":--"] + ["--:"] * (len(head) - 1)] + rows
        return ["| " + " | ".join(text.replace("|", "\\|") for text in line) + " |"
                for line in lines]
