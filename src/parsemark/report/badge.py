"""A badge: a figure with its interval, corpus and rule, as an SVG that is made here."""

import tempfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from parsemark.engine.verify_bundle import verify_confined
from parsemark.errors import UsageError
from parsemark.plain_words import INTERVAL, format_value, visible
from parsemark.store import Run
from parsemark.store.bundle import write_bundle
from parsemark.verdicts.scored_run import ScoredRun

_LETTER = 6.6  # pixels that a letter takes, a little more than it does in the fonts that browsers have
_HEIGHT = 20


def badge_svg(
    run: Run,
    parser: str | None = None,
    figure: str | None = None,
    *,
    link: str | None = None,
    bundle: Path | None = None,
) -> str:
    """Return the badge of a parser (which may be left out where the run has one) by a figure, by default the
    primary one.

    `link` is where it leads: the bundle that others can verify. A `bundle` of the run is scored again, and
    the badge says that it was verified. UsageError: the run has no such parser or figure, the link is none of
    the web, or the bundle does not verify, or is of another corpus or other outputs.
    """
    source = ScoredRun(run)
    summary = source.summary
    names = list(summary.parsers)
    if parser is None and len(names) != 1:
        raise UsageError(
            f"The badge needs one parser. The run has {', '.join(names) or 'none'}: choose one with --parser."
        )
    name, wanted = parser or names[0], figure or summary.primary
    if wanted not in {info.name for info in summary.figures}:
        raise UsageError(f"{summary.protocol} has no score {wanted!r}.")
    if name not in names:
        raise UsageError(f"The run has no parser {name!r}; it has {', '.join(names)}.")
    if link is not None and not link.startswith(("https://", "http://")):
        raise UsageError(f"--link {link}: give an address that begins with https://.")
    if bundle is not None:
        _require_verified(run, bundle)
    info, found = summary.info(wanted), summary.figure(name, wanted)
    value = "–" if found is None else format_value(found.value, info.style)
    ends = None if found is None else found.interval
    interval = "" if ends is None else f" [{'–'.join(format_value(e, info.style) for e in ends)}]"
    corpus = source.manifest.corpus
    left = f"{name}: {info.label} on {corpus.name} {corpus.hash[:8]}"
    right = f"{value}{interval}{f' · {source.rule}' if source.rule else ''}{' ✓' if bundle else ''}"
    title = (
        f"{name}: {info.label} {value}{interval} ({INTERVAL}), {summary.protocol} "
        f"version {summary.comparability}, "
        f"corpus {corpus.name} {corpus.version} {corpus.hash}"
        f"{f', matched by {source.rule}' if source.rule else ''}{', verified bundle' if bundle else ''}"
    )
    return _drawn(visible(left), visible(right), visible(title), link)


def _require_verified(run: Run, bundle: Path) -> None:
    checked = verify_confined(bundle)
    if not checked.passed or checked.index is None:
        failed = next((check.text for check in checked.checks if not check.passed), "it has no index")
        raise UsageError(f"{bundle} does not verify: {failed}")
    with tempfile.TemporaryDirectory(prefix="parsemark-badge-") as folder:
        own = write_bundle(run, Path(folder, "own.bundle"), truth=checked.index.has_truth)
    if (own.corpus, own.raw, own.parts) != (checked.index.corpus, checked.index.raw, checked.index.parts):
        raise UsageError(f"{bundle} is not of {run.path}: make it again with `parsemark bundle`.")


def _drawn(left: str, right: str, title: str, link: str | None) -> str:
    first, second = (round(len(text) * _LETTER) + 12 for text in (left, right))
    width = first + second
    body = (
        f"<title>{escape(title)}</title>"
        f'<rect width="{width}" height="{_HEIGHT}" rx="3" fill="#374151"/>'
        f'<path d="M{first} 0h{second - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{first}z" fill="#1d4ed8"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="6" y="14" textLength="{first - 12}">{escape(left)}</text>'
        f'<text x="{first + 6}" y="14" textLength="{second - 12}">{escape(right)}</text></g>'
    )
    if link is not None:
        body = f"<a href={quoteattr(link)}>{body}</a>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_HEIGHT}" role="img" '
        f"aria-label={quoteattr(title)}>{body}</svg>\n"
    )
