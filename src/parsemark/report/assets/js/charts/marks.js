// One function per kind of mark: series + scales -> SVG nodes.
"use strict";
(() => {
  const { svg } = parsemark;
  const classes = (base, series) =>
    [base, series.dash ? "dash" : "", series.faint ? "faint" : ""].filter(Boolean).join(" ");
  const fix = (v) => v.toFixed(1);
  const join = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${fix(x)} ${fix(y)}`).join("");

  const pixels = (series, x, y) => series.x.map((v, i) => [x.at(v), y.at(series.y[i])]);

  // Intervals of several lines stand beside each other, each in the colour of its line.
  const line = (series, x, y, context) => [
    svg("path", { class: classes("mark-line", series), d: join(pixels(series, x, y)) }),
    ...pixels(series, x, y).flatMap(([px], i) =>
      interval(series, i, px + (((context.colour ?? 0) % 5) - 2) * 3, y, "mark-error of-line")),
  ];

  const band = (series, x, y) => {
    const top = pixels(series, x, y);
    const bottom = series.base_x.map((v, i) => [x.at(v), y.at(series.base[i])]).reverse();
    return [svg("path", { class: "mark-band", d: `${join([...top, ...bottom])}Z` })];
  };

  const SHAPES = [
    (r) => `M${r} 0A${r} ${r} 0 1 1 ${-r} 0A${r} ${r} 0 1 1 ${r} 0Z`,
    (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
    (r) => `M0 ${-r * 1.2}L${r * 1.15} ${r * 0.8}H${-r * 1.15}Z`,
    (r) => `M0 ${-r * 1.3}L${r * 1.3} 0L0 ${r * 1.3}L${-r * 1.3} 0Z`,
    (r) => `M0 ${r * 1.2}L${r * 1.15} ${-r * 0.8}H${-r * 1.15}Z`,
  ];

  const interval = (series, i, cx, y, kind = "mark-error") =>
    series.low && series.low[i] !== undefined
      ? [svg("path", { class: kind, d: `M${fix(cx)} ${fix(y.at(series.low[i]))}V${fix(y.at(series.high[i]))}` })]
      : [];

  // Beside its point, or moved up or down until it lies on no other label.
  const pointLabel = (label, px, atPoint, context) => {
    const left = px > context.width * 0.7;
    const short = label.length > 26 ? `${label.slice(0, 25)}…` : label;
    const width = short.length * 6.3 + 12;
    const from = left ? px - width : px + 7;
    const free = (y) => context.labels.every((l) => l.to < from || l.from > from + width - 7 || Math.abs(l.y - y) > (l.point ? 9 : 13));
    const py = [0, 14, -14, 28, -28, 42, -42].map((shift) => atPoint + shift).find(free) ?? atPoint;
    context.labels.push({ from, to: from + width, y: py });
    return svg("text", { class: "point-label", x: fix(px + (left ? -9 : 9)), y: fix(py), dy: ".32em", "text-anchor": left ? "end" : "start" }, short);
  };

  const points = (series, x, y, context) => {
    const radius = series.faint && series.x.length > 40 ? 2.6 : 5;
    const shape = SHAPES[(context.colour ?? 0) % SHAPES.length](radius);
    return pixels(series, x, y).flatMap(([px, py], i) => {
      const mark = svg("path", { class: classes("mark-point", series), d: shape, transform: `translate(${fix(px)} ${fix(py)})` });
      const label = series.labels?.[i] ?? series.name;
      mark.pointText = `${label}: ${context.describe(series.x[i], series.y[i])}`;
      const link = series.links?.[i];
      const node = link ? svg("a", { href: link, "aria-label": mark.pointText }, mark) : mark;
      const text = context.labelled ? pointLabel(label, px, py, context) : null;
      return [...interval(series, i, px, y), node, text].filter(Boolean);
    });
  };

  const bars = (series, x, y, context) => {
    const slot = (x.width ?? context.barWidth) * 0.84;
    const width = slot / context.barCount;
    return pixels(series, x, y).flatMap(([px, py], i) => {
      const left = px - slot / 2 + context.barIndex * width;
      const zero = y.at(Math.max(0, y.ticks[0].value));
      const bar = svg("rect", {
        class: classes("mark-bar", series),
        x: fix(left + width * 0.06),
        y: fix(Math.min(py, zero)),
        width: fix(Math.max(0.5, width * 0.88)),
        height: fix(Math.abs(zero - py)),
      });
      bar.pointText = `${series.labels?.[i] ?? series.name}: ${context.describe(series.x[i], series.y[i])}`;
      return [bar, ...interval(series, i, left + width / 2, y)];
    });
  };

  parsemark.marks = { line, band, points, bars };
})();
