# /// script
# dependencies = ["tabula-py[jpype]==2.10.0", "jpype1==1.7.1", "pandas==3.1.1", "numpy==2.4.6"]
# [tool.parsemark]
# about = "tabula-java: from ruling lines (lattice) or from white space (stream)"
# licence = "MIT"
# homepage = "https://github.com/chezou/tabula-py"
# gives = ["cells", "boxes"]
# needs = ["java"]
# options.mode.default = "auto"
# options.mode.choices = ["auto", "lattice", "stream"]
# options.mode.about = "auto lets tabula decide for each page"
# ///
"""tabula: `read_pdf` with its own guess of the tables' places."""

import tabula
from parsemark_worker import elements_output, serve, table
from tabula.backend import TabulaVm


def prepare(options):
    """Start the Java machine before the clock does; tabula uses the one that runs."""
    TabulaVm(java_options=["-Djava.awt.headless=true", "-Dfile.encoding=UTF8"], silent=True)


def parse(pdf, page, options):
    modes = {mode: options["mode"] == mode for mode in ("lattice", "stream")}
    found = tabula.read_pdf(pdf, pages=page, output_format="json", guess=True, silent=True, **modes)
    tables = []
    for t in (t for t in found if t["data"]):
        rows = [[cell["text"] for cell in row] for row in t["data"]]
        tables.append(table(rows, box=(t["left"], t["top"], t["right"], t["bottom"])))
    return elements_output(tables)


serve(parse, versions=["tabula-py"], programs={"java": ["java", "-version"]}, prepare=prepare)
