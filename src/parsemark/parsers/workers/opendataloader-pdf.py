# /// script
# dependencies = ["opendataloader-pdf==2.5.16"]
# [tool.parsemark]
# about = "Layout analysis in Java: headings, lists and tables as Markdown"
# licence = "Apache-2.0"
# homepage = "https://github.com/opendataloader-project/opendataloader-pdf"
# gives = ["markdown"]
# needs = ["java"]
# [tool.parsemark.options.table_method]
# default = "default"
# choices = ["default", "cluster"]
# about = "Tables from borders, or also from clusters of text"
# ///
"""opendataloader-pdf: one run of its jar for each page, with HTML for tables that have spans."""

import tempfile
from pathlib import Path

from opendataloader_pdf import convert
from parsemark_worker import serve, text_output


def parse(pdf, page, options):
    with tempfile.TemporaryDirectory() as folder:
        convert(
            pdf,
            output_dir=folder,
            format="markdown",
            quiet=True,
            pages=str(page),
            table_method=options["table_method"],
            markdown_with_html=True,
            image_output="off",
        )
        return text_output("markdown", next(Path(folder).rglob("*.md")).read_text(encoding="utf-8"))


serve(parse, versions=["opendataloader-pdf"], programs={"java": ["java", "-version"]})
