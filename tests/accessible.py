"""Accessibility of a page in light and dark, by axe-core."""

from typing import Any

OPTIONS = {
    "resultTypes": ["violations"],
    "preload": False,
}  # without stylesheets, which pages do not let it load


def violations(page: Any) -> list[str]:
    """Return what axe-core finds in both colour schemes, at any severity, with the first elements of each."""
    from axe_playwright_python.sync_playwright import Axe

    found = []
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # without colours in transition
        response = Axe().run(page, options=OPTIONS).response
        for violation in response["violations"]:
            nodes = [node["html"][:150] for node in violation["nodes"][:3]]
            found.append(f"{scheme}: {violation['impact']} {violation['id']}: {nodes}")
    page.emulate_media(color_scheme="dark" if is_dark else "light", reduced_motion=None)
    return found


def accessible(page: Any) -> None:
    """Fail if axe-core finds anything."""
    found = violations(page)
    assert not found, "\n".join(found)
