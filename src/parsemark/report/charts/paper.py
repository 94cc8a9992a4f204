"""Charts as files for papers, drawn with matplotlib from the same data as the site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from parsemark.extras import needed_for
from parsemark.report.colours import PALETTE
from parsemark.report.drawing import Chart, ChartAxis, Series
from parsemark.system import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Format = Literal["pdf", "svg", "png"]
GREY = "#6b7280"
LEGEND_CHARACTERS = 62  # how many fit into a line of the legend
LEGEND_LINE = 0.16  # inches that a line of the legend takes
MARKERS = ("o", "s", "^", "D", "v")
STYLE: Any = {  # matplotlib types its keys as a literal of all its settings
    "font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.6, "axes.grid": True, "grid.color": "#e5e7eb", "grid.linewidth": 0.5,
    "axes.axisbelow": True, "legend.frameon": False, "legend.fontsize": 7, "pdf.fonttype": 42,
    "svg.fonttype": "none", "svg.hashsalt": "parsemark", "figure.dpi": 200,
}  # fmt: skip
"""Small type for a column of a paper; fonts embedded as text; the same bytes for the same data."""


LABEL_SIZE = 6
LABEL_WIDTH = 0.62  # of a letter, as a share of the size
Side = Literal["left", "center", "right"]
Place = tuple[float, float, Side]
_BESIDE: tuple[tuple[float, Side], ...] = ((5.0, "left"), (-5.0, "right"))
_FAR = (6.0, 12.0, 18.0, 24.0, 32.0, 40.0)
LABEL_PLACES: tuple[Place, ...] = (
    (4, 0, "left"), (-4, 0, "right"), (0, 6, "center"), (0, -6, "center"),
    *((dx, dy, side) for far in _FAR for dy in (far, -far) for dx, side in _BESIDE),
)  # fmt: skip
"""Where a name may stand, as seen from its point: the first that is free is taken."""
Rectangle = tuple[float, float, float, float]


def save_chart(chart: Chart, colours: Mapping[str, int], path: Path) -> None:
    """Draw one chart; the suffix of `path` says the format."""
    with needed_for("parsemark export --format charts-…"):
        import matplotlib as mpl
        from matplotlib.figure import Figure
    with mpl.rc_context(STYLE):
        width, height = (3.4, 3.4) if chart.square else (3.6, 2.7)
        n_lines = -(-len(_legend_names(chart)) // _legend_columns(chart))
        height += LEGEND_LINE * max(0, n_lines - 2)  # the figure has room for two
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        draw_chart(chart, colours, axes)
        kind, artists = path.suffix[1:], [*figure.legends, *axes.texts]
        stable = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind, {})
        with replacing(path) as unfinished:
            figure.savefig(
                unfinished, format=kind, metadata=stable, bbox_inches="tight", bbox_extra_artists=artists
            )


def draw_chart(chart: Chart, colours: Mapping[str, int], axes: Axes) -> None:
    """Draw a chart into axes that the caller made; the legend goes below the whole figure."""
    for guide in chart.guides:
        axes.plot(guide.x, guide.y, color="#c4c7cc", linewidth=0.6, linestyle=":")
        if guide.label:
            end = guide.x[-1], guide.y[-1]
            axes.annotate(plain(guide.label), end, fontsize=5.5, color=GREY, ha="right", va="bottom")
    named: set[str] = set()
    for series in chart.series:
        colour = GREY if series.parser is None else PALETTE[colours[series.parser]].light
        unnamed = series.name in named or series.mark == "band" or (series.faint and len(series.x) == 1)
        label = "_" if unnamed else plain(series.name)
        _draw(axes, series, colour, label, chart)
        if label != "_":
            named.add(series.name)
    _dress(axes, chart)
    if len(named) > 1 and not chart.labelled:
        axes.figure.legend(loc="outside lower center", ncols=_legend_columns(chart))
    if chart.labelled:
        _label_points(axes, [s for s in chart.series if s.mark == "points" and s.x])


def _label_points(axes: Axes, series: Sequence[Series]) -> None:
    """Write each name beside its first point, where it covers no other name and no point if it can."""
    figure = axes.figure.canvas.figure
    figure.draw_without_rendering()  # only then does the layout say where the points will be
    scale = 72 / figure.dpi
    points = [tuple(axes.transData.transform((s.x[0], s.y[0])) * scale) for s in series]
    left, bottom, top = (end * scale for end in (axes.bbox.x0, axes.bbox.y0, axes.bbox.y1))
    taken = [(left - 500, bottom, left, top)]  # where the numbers of the axis stand
    taken += [(x - 3, y - 3, x + 3, y + 3) for x, y in points]
    for (x, y), one in sorted(zip(points, series, strict=True), key=lambda item: -item[0][1]):
        name = plain(one.name)
        width = LABEL_SIZE * (LABEL_WIDTH * len(name) + 0.5)
        places = [(_label_box(x, y, width, place), place) for place in LABEL_PLACES]
        box, (dx, dy, side) = min(places, key=lambda place: sum(_shared(place[0], other) for other in taken))
        taken.append(box)
        far = abs(dy) > LABEL_SIZE
        label = axes.annotate(
            name,
            (one.x[0], one.y[0]),
            xytext=(dx, dy),
            textcoords="offset points",
            fontsize=LABEL_SIZE,
            ha=side,
            va="center",
            # A line below it, as that of the best at each price, would strike it through.
            bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": GREY, "shrinkA": 0} if far else None,
        )
        label.set_in_layout(False)  # the points must stay where they were


def _label_box(x: float, y: float, width: float, place: Place) -> Rectangle:
    dx, dy, side = place
    left = x + dx - {"left": 0.0, "center": width / 2, "right": width}[side]
    return left, y + dy - LABEL_SIZE * 0.6, left + width, y + dy + LABEL_SIZE * 0.6


def _shared(a: Rectangle, b: Rectangle) -> float:
    """Return the area that two rectangles share."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _legend_names(chart: Chart) -> list[str]:
    return [] if chart.labelled else list(dict.fromkeys(plain(s.name) for s in chart.series))


def _legend_columns(chart: Chart) -> int:
    """Return the number of columns that the longest name leaves room for."""
    longest = max((len(name) for name in _legend_names(chart)), default=1)
    return max(1, min(4, LEGEND_CHARACTERS // (longest + 6)))


def plain(text: str, longest: int = 60) -> str:
    """Return text that matplotlib does not read as a formula, and that a parser's name cannot break."""
    printable = "".join(c if c.isprintable() else "�" for c in text)
    return printable[:longest].replace("$", r"\$")


def _draw(axes: Axes, s: Series, colour: str, label: str, chart: Chart) -> None:
    """Draw one series, with its intervals."""
    places, end_colour, end_width = list(s.x), colour, 0.8
    alpha = 0.45 if s.faint else 1.0
    if s.mark == "band":
        axes.fill(
            [*s.x, *reversed(s.base_x)], [*s.y, *reversed(s.base)], color=colour, alpha=0.16, linewidth=0
        )
    elif s.mark == "line":
        dashes = "--" if s.dash else "-"
        axes.plot(s.x, s.y, color=colour, linewidth=1.2, linestyle=dashes, label=label, alpha=alpha)
    elif s.mark == "points":
        index = next((i for i, c in enumerate(PALETTE) if c.light == colour), 0)
        size, marker = 6 if s.faint and len(s.x) > 40 else 22, MARKERS[index % len(MARKERS)]
        axes.scatter(s.x, s.y, size, colour, marker=marker, label=label, alpha=alpha, linewidths=0, zorder=3)
    else:
        bars = [other for other in chart.series if other.mark == "bars"]
        slot = 0.84 * (1.0 if chart.x.kind == "category" else _spacing(chart))
        width = slot / len(bars)
        left = -slot / 2 + bars.index(s) * width + width / 2
        places = [x + left for x in s.x]
        axes.bar(places, s.y, width * 0.9, color=colour, label=label, alpha=0.9)
        end_colour, end_width = "#1f2937", 0.7
    if s.low:
        axes.vlines(places, s.low, s.high, color=end_colour, linewidth=end_width)


def _spacing(chart: Chart) -> float:
    """Return the width of a bin: bins without a bar have a point of the line beside."""
    places = sorted({float(x) for s in chart.series if s.mark != "points" for x in s.x})
    return min((b - a for a, b in pairwise(places)), default=0.1)


def _dress(axes: Axes, chart: Chart) -> None:
    axes.set_title("\n".join(wrap(plain(chart.title, 120), 48)), loc="left")
    axes.set_xlabel(plain(chart.x.label))
    axes.set_ylabel(plain(chart.y.label))
    if chart.x.kind == "category":
        crowded = len(chart.x.categories) > 4
        names = [plain(c) for c in chart.x.categories]
        axes.set_xticks(
            range(len(names)), names, rotation=30 if crowded else 0, ha="right" if crowded else "center"
        )
        axes.grid(visible=False, axis="x")
    sides: tuple[tuple[Any, Any, Any, ChartAxis], ...] = (
        (axes.xaxis, axes.set_xscale, axes.set_xlim, chart.x),
        (axes.yaxis, axes.set_yscale, axes.set_ylim, chart.y),
    )
    for drawn, set_scale, set_limits, axis in sides:
        if axis.kind == "linear" and (axis.low is not None or axis.high is not None):
            set_limits(axis.low, None if axis.high is None else axis.high * 1.005)
        if axis.kind == "log":
            set_scale("log")
            # 0.1, 0.2, 0.5 instead of powers of ten.
            from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

            drawn.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            drawn.set_major_formatter(FormatStrFormatter("%g"))
            drawn.set_minor_formatter(NullFormatter())
