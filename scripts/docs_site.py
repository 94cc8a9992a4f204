"""A hook of mkdocs: add the pages of the plug-ins, as `parsemark-NAME/`, and a page of all commands."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from command_pages import PAGE, commands_page
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
REPOSITORY = "https://github.com/parsemark/parsemark/blob/main/"
_LINK = re.compile(r"(?<=\]\()([^)#\s:]+\.md)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not in the folder of the site."""
    files.append(File.generated(config, PAGE, content=commands_page()))
    for path in sorted(ROOT.glob("plugins/*/docs/*.md")):
        files.append(File.generated(config, site_path(path), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links between files into links of the site, or of the repository for files outside the site."""
    file = page.file

    def moved(link: re.Match[str]) -> str:
        target = Path(posixpath.normpath(Path(file.abs_src_path or ROOT / "docs" / PAGE).parent / link[0]))
        if "docs" not in target.relative_to(ROOT).parts:
            return REPOSITORY + target.relative_to(ROOT).as_posix()
        return posixpath.relpath(site_path(target), posixpath.dirname(file.src_uri))

    return _LINK.sub(moved, markdown)


def site_path(path: Path) -> str:
    """Return the path of a page in the site."""
    parts = path.relative_to(ROOT).parts
    return f"parsemark-{parts[1]}/{path.name}" if parts[0] == "plugins" else posixpath.join(*parts[1:])
