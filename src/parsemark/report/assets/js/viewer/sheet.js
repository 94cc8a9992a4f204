// The page: its picture, and over it the boxes of truth and prediction.
"use strict";
(() => {
  const { el, svg } = parsemark;

  const boxNode = (element, side, selected, choose) => {
    const [x0, y0, x1, y1] = element.box;
    const label = element.confidence === undefined ? element.category : `${element.category} ${element.confidence.toFixed(2)}`;
    return svg("g", { class: `box ${side} ${element.category === "table" ? "is-table" : "is-other"} ${selected ? "selected" : ""}`, on: { click: () => choose(element) } },
      svg("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0 }, svg("title", {}, `${side === "truth" ? "Truth" : "Prediction"} ${element.id}: ${label}`)),
      element.category === "table" && side === "pred" && element.confidence !== undefined
        ? svg("text", { x: x1 - 3, y: y0 - 4, "text-anchor": "end" }, element.confidence.toFixed(2)) : null);
  };

  const boxes = (elements, side, chosen, choose) => (elements || []).filter((e) => e.box)
    .map((e) => boxNode(e, side, chosen.has(e.id), choose));

  // `contenders` have {data, colour, selected: ids}; the second one, if any, is drawn dotted.
  // `choose` gets an element and the number of its contender, or null for one of the truth.
  parsemark.renderSheet = (page, contenders, selectedTruths, choose) => {
    const width = page.width ?? 595;
    const height = page.height ?? 842;
    const picture = page.image ? el("img", { src: parsemark.picture(`images/${parsemark.pageFile(page.index)}.jpg`), alt: `Page ${page.page_number} of ${page.document}`, decoding: "async" })
      : svg("svg", { class: "blank", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "No picture of this page" });
    const layer = (c, k) => svg("g", { class: `parser-${c.colour} order-${k}` },
      boxes(c.data.prediction?.elements, "pred", c.selected, (element) => choose(element, k)));
    const overlay = svg("svg", { class: "overlay", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      boxes(page.truth?.elements, "truth", selectedTruths, (element) => choose(element, null)),
      contenders.map(layer), contenders.map((c, k) => (c.data.found ?? []).flatMap(([what, kind, truth, , places]) => places.map(([x0, y0, x1, y1]) =>
        svg("rect", { class: `finding ${kind} order-${k}`, x: x0, y: y0, width: x1 - x0, height: y1 - y0 }, svg("title", {}, `${what}: ${truth}`))))));
    const sheet = el("div", { class: "sheet" }, picture, overlay);
    // As high as the window at most, so that the page is seen whole.
    document.getElementById("sheet").style.setProperty("--ratio", String(width / height));
    return sheet;
  };
})();
