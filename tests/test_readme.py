"""The examples of the README run as they stand."""

import doctest
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_python_examples_of_the_readme_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README", str(README), 0)
    result = doctest.DocTestRunner(optionflags=doctest.FAIL_FAST).run(example)
    assert result.attempted > 5
    assert result.failed == 0


def test_every_linked_file_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8"))
    missing = [link for link in links if not link.startswith("http") and not (README.parent / link).exists()]
    assert missing == []
