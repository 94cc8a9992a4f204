"""The documentation: every page is in the site, every example runs or is checked, every command exists."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from scripts import command_pages
from scripts.count_words import count_words

from parsemark.cli.main import EVERYWHERE, app
from parsemark.parsers import get_parser
from parsemark.parsers.releases import own_package

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("plugins/*/docs/*.md")])
FENCE = re.compile(r"^```([a-z]*)([^\n]*)\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:^ {4}\S.*\n?)+", re.M)
IN_LINE = re.compile(r"`(parsemark [^`]+)`")
LANGUAGES = {
    "",
    "console",
    "json",
    "python",
    "sh",
    "toml",
    "yaml",
    "text",
    "html",
    "latex",
    "markdown",
    "sql",
}
NOT_RUN = "# not run"
"""A Python example whose first line ends so is compiled and not run: it needs data, a network or minutes."""


def ids(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path) -> list[tuple[str, str]]:
    """The fenced code blocks of a page: language and content."""
    return [(m[1], m[3]) for m in FENCE.finditer(path.read_text(encoding="utf-8"))]


def commands(path: Path) -> list[str]:
    """All that begins with `parsemark` in blocks of commands and in the text."""
    text = path.read_text(encoding="utf-8")
    shells = [content for language, content in blocks(path) if language in ("", "sh", "console", "yaml")]
    shells += [textwrap.dedent(m[0]) for m in INDENTED.finditer(FENCE.sub("", text))]
    joined = "\n".join(shells).replace("\\\n", " ")
    lines = [re.sub(r"^\s*(?:- run:|run:|\$)\s*", "", line).strip() for line in joined.splitlines()]
    own = [line for line in lines if line.startswith("parsemark ")]
    return own + [" ".join(found.split()) for found in IN_LINE.findall(text)]


def test_every_page_is_in_the_site() -> None:
    listed = set(re.findall(r"[\w/.\-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert {site_path(path) for path in PAGES} | {command_pages.PAGE} == listed


def test_the_page_of_commands_has_the_help_of_each() -> None:
    page = command_pages.commands_page()
    for command in ("bench", "corpus make", "study judge answers"):
        assert f"\n## {command}\n" in page and f"Usage: parsemark {command} " in page
    assert page.count("\nUsage: parsemark") == page.count("\n## ") + 1 and "Error" not in page


def site_path(path: Path) -> str:
    """Where a page stands in the site (`scripts/docs_site.py`)."""
    parts = path.relative_to(ROOT).parts
    return f"parsemark-{parts[1]}/{parts[-1]}" if parts[0] == "plugins" else "/".join(parts[1:])


@pytest.mark.parametrize("path", PAGES, ids=ids)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
        if not link.startswith(("http:", "https:")):
            assert (path.parent / link).exists(), link


@pytest.mark.parametrize("path", PAGES, ids=ids)
def test_no_page_is_longer_than_2500_words(path: Path) -> None:
    words, generated = count_words(path.read_text(encoding="utf-8"))
    assert words - generated <= 2500, f"{words - generated} words: move experiments to bench/RESULTS.md"


def test_the_readme_is_short() -> None:
    assert count_words((ROOT / "README.md").read_text(encoding="utf-8"))[0] <= 900


def test_each_page_is_of_one_kind() -> None:
    kinds = {"index.md", "tutorial", "how-to", "reference", "explanation"}
    assert {page.relative_to(ROOT / "docs").parts[0] for page in (ROOT / "docs").rglob("*.md")} == kinds


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=ids)
def test_anchors_of_links_exist(path: Path) -> None:
    for page, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", path.read_text(encoding="utf-8")):
        target = path.parent / page if page else path
        assert anchor in headings(target), f"{page}#{anchor}"


def headings(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and mkdocs make them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    titles = [re.sub(r"[^\w\- ]", "", title.lower()) for title in re.findall(r"(?m)^#+ (.+?)\s*$", text)]
    return {title.strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", PAGES, ids=ids)
def test_code_blocks_run_or_parse(path: Path) -> None:
    examples = []
    for language, content in blocks(path):
        assert language in LANGUAGES, f"{language}: say what kind of block it is"
        if language == "toml":
            tomllib.loads(content)
        elif language == "json":
            _parse_json(content)
        elif language == "python" and ">>>" in content and NOT_RUN not in content.split("\n", 1)[0]:
            examples.append(content)
        elif language == "python" and ">>>" not in content:
            compile(content, path.name, "exec")
    if examples:
        test = doctest.DocTestParser().get_doctest("\n".join(examples), {}, path.name, str(path), 0)
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0


def test_the_worker_of_the_histories_can_be_copied_and_has_versions(tmp_path: Path) -> None:
    (worker,) = (c for language, c in blocks(ROOT / "docs" / "how-to" / "history.md") if language == "python")
    (tmp_path / "mupdf.py").write_text(worker, encoding="utf-8")
    assert own_package(get_parser(str(tmp_path / "mupdf.py"))).name == "pymupdf"


def _parse_json(content: str) -> None:
    """One value, or one on each line."""
    try:
        json.loads(content)
    except ValueError:
        for line in content.splitlines():
            if line.strip():
                json.loads(line)


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=ids)
def test_every_command_and_flag_exists(path: Path) -> None:
    for line in commands(path):
        problem = wrong_in(line)
        assert problem is None, f"{line}: {problem}"


def wrong_in(line: str) -> str | None:
    """What a command line names that the program does not have."""
    try:
        words = shlex.split(re.split(r"[|;>]|&&", line)[0], comments=True)[1:]
    except ValueError:  # a quotation that runs on
        words = line.split()[1:]
    node: Any = typer.main.get_command(app)
    flags = {flag for option in node.params for flag in (*option.opts, *option.secondary_opts)} | {"--help"}
    left = iter(words)
    for word in left:
        if hasattr(node, "commands"):
            if word == "--config":
                next(left, None)
                continue
            if word.startswith("-"):
                if word.split("=")[0] not in flags:
                    return f"there is no flag {word}"
                continue
            if word not in node.commands:
                is_placeholder = not re.fullmatch(r"[a-z][a-z-]*", word) or len(words) == 1
                return None if is_placeholder and node.name != "parsemark" else f"there is no command {word}"
            node = node.commands[word]
            flags = {f for option in node.params for f in (*option.opts, *option.secondary_opts)}
            flags |= {"--help", "--config", *EVERYWHERE}
        elif word.startswith("--") and word.split("=")[0] not in flags:
            return f"`{node.name}` has no flag {word}"
    return None


def test_the_check_of_commands_can_fail() -> None:
    assert wrong_in("parsemark bench --corpus demo --workers=2") is None
    assert wrong_in("parsemark bnech") == "there is no command bnech"
    assert wrong_in("parsemark bench --corups demo") == "`bench` has no flag --corups"
    assert wrong_in("parsemark corpus make synthetic --pages 3 --out x") is None
