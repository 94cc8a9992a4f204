"""An import contract for plug-ins: they may import only what `docs/how-to/extend.md` lists as public."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

PUBLIC = re.compile(r"^\| `(parsemark[\w.]*)` \|", re.MULTILINE)


class PublicOnly(Contract):
    """Plug-ins import only the core modules that a page of the documentation lists.

    A listed package stands for the names in its `__init__`; its submodules are public only if listed.
    """

    plugins = fields.ListField(subfield=fields.StringField())
    core = fields.StringField()
    page = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find every direct import of a core module that is not listed."""
        public = set(PUBLIC.findall(Path(str(self.page)).read_text(encoding="utf-8")))
        broken: list[dict[str, Any]] = []
        for importer in sorted(graph.modules):
            if importer.partition(".")[0] not in self.plugins:
                continue
            for imported in sorted(graph.find_modules_directly_imported_by(importer)):
                if imported.partition(".")[0] == self.core and imported not in public:
                    broken += graph.get_import_details(importer=importer, imported=imported)
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each import that is not allowed, with its line."""
        for found in check.metadata["broken"]:
            output.print_error(
                f"{found['importer']}:{found['line_number']} imports {found['imported']}, which {self.page} "
                "does not list as public",
                bold=True,
            )
            output.new_line()
