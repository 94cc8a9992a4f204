// Under each chart: its numbers as a table, and downloads of the drawing and of the numbers.
"use strict";
(() => {
  const { el } = parsemark;
  const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family"];
  const MOST_ROWS = 500;

  const rows = (chart) => chart.series.flatMap((s) => s.x.map((x, i) => [
    s.labels?.[i] ? `${s.name} (${s.labels[i]})` : s.name,
    chart.x.kind === "category" ? chart.x.categories[x] : x,
    s.y[i],
    s.low?.[i] ?? "",
    s.high?.[i] ?? "",
  ]));

  const table = (chart) => {
    const all = rows(chart);
    const heads = ["Series", chart.x.label, chart.y.label, "Low", "High"];
    const body = all.slice(0, MOST_ROWS).map(([name, ...numbers]) => el("tr", {},
      el("th", { scope: "row" }, parsemark.foreign(name)), numbers.map((n) => el("td", {}, String(n)))));
    return el("div", { class: "chart-data", tabindex: "0", role: "region", "aria-label": `Numbers of ${chart.title}` },
      el("table", {}, el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, body)),
      all.length > MOST_ROWS ? el("p", { class: "muted" }, `${parsemark.counted(all.length - MOST_ROWS, "more row")} in the CSV.`) : null);
  };

  // A saved drawing has no stylesheet: write the computed colours into it.
  const standalone = (drawing) => {
    const copy = drawing.cloneNode(true);
    const from = drawing.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((node, i) => {
      const style = getComputedStyle(from[i]);
      for (const property of STYLED) node.setAttribute(property, style.getPropertyValue(property));
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", parsemark.chartWidth);
    return new XMLSerializer().serializeToString(copy);
  };

  parsemark.chartTools = (chart, plot) => {
    let shown = null;
    const toggle = el("button", { type: "button", "aria-expanded": "false" }, "Numbers");
    const bar = el("div", { class: "chart-tools" }, toggle,
      el("button", { type: "button", on: { click: () => parsemark.download(`${chart.key}.csv`, "text/csv", parsemark.toCsv([["series", chart.x.label, chart.y.label, "low", "high"], ...rows(chart)])) } }, "CSV"),
      el("button", { type: "button", on: { click: () => parsemark.download(`${chart.key}.svg`, "image/svg+xml", standalone(plot.querySelector("svg"))) } }, "SVG"));
    toggle.addEventListener("click", () => {
      if (shown) shown.remove();
      shown = shown ? null : table(chart);
      if (shown) bar.after(shown);
      toggle.setAttribute("aria-expanded", String(Boolean(shown)));
    });
    return bar;
  };
})();
