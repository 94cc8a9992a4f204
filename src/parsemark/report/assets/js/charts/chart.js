// Draws a chart description (see report/charts/spec.py) into a figure.
"use strict";
(() => {
  const { el, svg } = parsemark;
  // On a phone a narrower drawing keeps its letters readable.
  const WIDTH = innerWidth < 640 ? 380 : 560;
  const MARGIN = { top: 14, right: 14, bottom: 46, left: 54 };

  const values = (chart, axis) => [
    ...chart.series.flatMap((s) => (axis === "y" ? [...s.y, ...(s.base || []), ...(s.low || []), ...(s.high || [])] : s.x)),
  ];

  const frame = (chart, x, y, box) => {
    const horizontal = y.ticks.map((t) =>
      svg("g", { transform: `translate(0 ${y.at(t.value).toFixed(1)})` },
        svg("line", { class: "gridline", x1: box.left, x2: box.right }),
        svg("text", { x: box.left - 8, dy: ".32em", "text-anchor": "end" }, t.text)));
    const crowded = chart.x.kind === "category" && x.width < 78;
    const vertical = x.ticks.map((t) => {
      const text = t.text.length > 18 ? `${t.text.slice(0, 17)}…` : t.text;
      const label = crowded
        ? svg("text", { transform: "translate(4 12) rotate(-32)", "text-anchor": "end" }, text)
        : svg("text", { y: 18, "text-anchor": "middle" }, text);
      return svg("g", { transform: `translate(${x.at(t.value).toFixed(1)} ${box.bottom})` },
        chart.x.kind === "category" ? null : svg("line", { class: "gridline", y1: 0, y2: box.top - box.bottom }), label);
    });
    return [
      ...horizontal,
      ...vertical,
      svg("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
      svg("text", { class: "axis-label", x: (box.left + box.right) / 2, y: box.height - 4, "text-anchor": "middle" }, chart.x.label),
      svg("text", { class: "axis-label", transform: `translate(12 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, chart.y.label),
    ];
  };

  const guides = (chart, x, y) => chart.guides.flatMap((guide) => {
    const d = guide.x.map((v, i) => `${i ? "L" : "M"}${x.at(v).toFixed(1)} ${y.at(guide.y[i]).toFixed(1)}`).join("");
    const last = guide.x.length - 1;
    return [
      svg("path", { class: "guide", d }),
      guide.label && svg("text", { class: "guide-label", x: x.at(guide.x[last]) - 4, y: y.at(guide.y[last]) - 4, "text-anchor": "end" }, guide.label),
    ];
  });

  const describe = (chart) => (a, b) => {
    const first = chart.x.kind === "category" ? chart.x.categories[a] : `${chart.x.label} ${Number(a.toFixed(4))}`;
    return `${first}, ${chart.y.label} ${Number(b.toFixed(4))}`;
  };

  const draw = (chart, colours) => {
    const crowded = chart.x.kind === "category" && chart.x.categories.length > 6;
    const height = chart.square ? WIDTH * 0.84 : 340 + (crowded ? 50 : 0);
    const bottom = MARGIN.bottom + (crowded ? 50 : 0);
    const box = { left: MARGIN.left, right: WIDTH - MARGIN.right, top: MARGIN.top, bottom: height - bottom, height };
    const x = parsemark.scale(chart.x, values(chart, "x"), [box.left, box.right]);
    const y = parsemark.scale(chart.y, values(chart, "y"), [box.bottom, box.top]);
    const barSeries = chart.series.filter((s) => s.mark === "bars");
    // Bins without a bar have a point of the line beside: bars are as wide as bins, not as the gap between bars.
    const places = [...new Set(chart.series.filter((s) => s.mark !== "points").flatMap((s) => s.x))].map((v) => x.at(v)).sort((a, b) => a - b);
    const barWidth = barSeries.length && places.length > 1 ? Math.min(...places.slice(1).map((v, i) => v - places[i])) : 40;
    // No label is written on a point, or along a level piece of a line.
    const taken = (s) => s.x.flatMap((v, i) => {
      if (s.mark === "points") return [{ from: x.at(v) - 6, to: x.at(v) + 6, y: y.at(s.y[i]), point: true }];
      if (s.mark !== "line" || !i || Math.abs(y.at(s.y[i]) - y.at(s.y[i - 1])) > 1) return [];
      const ends = [x.at(s.x[i - 1]), x.at(v)];
      return [{ from: Math.min(...ends), to: Math.max(...ends), y: y.at(s.y[i]), point: true }];
    });
    const labels = chart.labelled ? chart.series.flatMap(taken) : [];
    const groups = chart.series.map((series) => {
      const colour = colours[series.parser];
      const context = { colour, describe: describe(chart), barCount: barSeries.length, barIndex: barSeries.indexOf(series), barWidth, labelled: chart.labelled, width: WIDTH, labels };
      return svg("g", { class: colour === undefined ? "" : `parser-${colour}`, data: { series: series.parser ?? series.name } },
        parsemark.marks[series.mark](series, x, y, context));
    });
    const summary = `${chart.title}. ${chart.caption} The numbers are in the table under the chart.`;
    return svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": summary },
      frame(chart, x, y, box), guides(chart, x, y), groups);
  };

  parsemark.drawChart = draw;
  parsemark.chartWidth = WIDTH;

  // What the caption has no room for, behind a "?".
  const about = (chart) => chart.about && [" ",
    el("button", { type: "button", class: "explain", popovertarget: `explain-${chart.key}`, "aria-label": `More about: ${chart.title}` }, el("span", {}, "?")),
    el("div", { class: "definition", popover: "", id: `explain-${chart.key}`, role: "note" }, el("h3", {}, chart.title), el("p", {}, chart.about))];

  // The whole figure: title, plot, legend, caption, tools.
  parsemark.chartFigure = (chart, colours) => {
    const plot = el("div", { class: "plot" }, draw(chart, colours));
    parsemark.attachTooltip(plot);
    return el("figure", { class: "chart", id: `figure-${chart.key}` },
      el("h3", {}, chart.title),
      plot,
      parsemark.chartLegend(chart, colours, plot),
      el("figcaption", {}, chart.caption, about(chart)),
      parsemark.chartTools(chart, plot));
  };
})();
