"""What benchmarks call parsemark's categories of elements."""

from parsemark.model import Element
from parsemark.protocols import read_toml


def label_of(element: Element, package: str | None) -> str:
    """Return what the benchmark in `package` calls an element (`labels.toml`)."""
    labels: dict[str, str] = read_toml(package or "", "labels.toml")
    category = str(element.category)
    return labels.get("caption" if category.endswith("_caption") else category, labels["other"])
