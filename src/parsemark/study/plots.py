"""Scatter plots of scores against people's ratings, with both distributions at the margins."""

from pathlib import Path
from typing import Any

from parsemark.extras import needed_for
from parsemark.study.run import StudyResult
from parsemark.system import make_folder, replacing

_INK = "#2b5c8a"
_PER_ROW = 3
_MOST = 90  # panels beyond this many would make a picture that nothing opens


def draw_scatter(result: StudyResult, names: list[str], path: Path) -> None:
    """Draw one panel per column and save them all to one file (PNG, PDF or SVG by its suffix)."""
    with needed_for("Drawing"):
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot as plt
    chosen = [c for c in result.columns if c.name in names][:_MOST]
    n_rows = -(-len(chosen) // _PER_ROW)
    figure = plt.figure(figsize=(4.0 * _PER_ROW, 4.0 * n_rows), layout="constrained")
    panels = figure.subfigures(n_rows, _PER_ROW, squeeze=False).ravel()
    for panel, column in zip(panels, chosen, strict=False):
        points = [(pair.mean_rating, value) for pair, value in result.ratings.scored(column.values)]
        _panel(panel, column.name, points, result.correlations[column.name].pearson)
    make_folder(path.parent)
    stable = {"Software": None} if path.suffix == ".png" else None
    with replacing(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix[1:], dpi=150, metadata=stable)
    plt.close(figure)


def _panel(panel: Any, name: str, points: list[tuple[float, float]], pearson: float | None) -> None:
    axes = panel.subplot_mosaic(
        [["above", "."], ["main", "right"]],
        height_ratios=[1, 4],
        width_ratios=[4, 1],
        gridspec_kw={"wspace": 0.02},
    )
    people, scores = [p for p, _ in points], [s for _, s in points]
    main = axes["main"]
    main.scatter(people, scores, s=12, alpha=0.45, color=_INK, linewidths=0)
    main.set_xlabel("people")
    main.set_ylabel(name)
    main.set_xlim(-0.5, 10.5)
    axes["above"].hist(people, bins=21, range=(-0.25, 10.25), color=_INK, alpha=0.6)
    axes["right"].hist(scores, bins=21, orientation="horizontal", color=_INK, alpha=0.6)
    axes["right"].sharey(main)
    for margin in (axes["above"], axes["right"]):
        margin.axis("off")
    axes["above"].set_xlim(-0.5, 10.5)
    shown = "–" if pearson is None else f"{pearson:z.3f}"
    axes["above"].set_title(f"{name}   r = {shown}", fontsize=10)
