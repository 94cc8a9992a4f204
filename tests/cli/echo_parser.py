# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# about = "Returns a table that names the file"
# licence = "MIT"
# gives = ["markdown"]
#
# [tool.parsemark.options.speed]
# default = "fast"
# choices = ["fast", "slow"]
# ///
"""A parser for tests, written as a user would write one."""

import time
from pathlib import Path

from parsemark_worker import serve, text_output


def parse(pdf, page, options):
    if options["speed"] == "slow":
        time.sleep(0.3)
    content = Path(pdf).read_text()
    if content.startswith("bad"):
        raise ValueError("cannot read this page")
    return text_output("markdown", f"| {content} | page {page} |\n|---|---|\n| 1 | 2 |\n")


serve(parse)
