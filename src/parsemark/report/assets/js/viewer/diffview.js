// Draws the difference of two tables.
"use strict";
(() => {
  const { el } = parsemark;
  const MOST_CHARACTERS = 1500;
  const WORDS = { same: "equal", changed: "changed text", missing: "missing", extra: "extra", span: "wrong span" };

  const marked = parsemark.markedText = (truth, pred) => {
    const runs = parsemark.diffText(truth.slice(0, MOST_CHARACTERS), pred.slice(0, MOST_CHARACTERS));
    const tags = { gone: "del", new: "ins", same: "span" };
    const cutOff = truth.length > MOST_CHARACTERS || pred.length > MOST_CHARACTERS;
    return el("bdi", {}, runs.map(([kind, text]) => el(tags[kind], {}, parsemark.visible(text))),
      cutOff ? el("span", { class: "cut" }, " … rest not compared") : null);
  };

  const CONTENT = {
    same: (c) => parsemark.shownText(c.truth),
    span: (c) => (c.truth ?? c.pred ? parsemark.shownText(c.truth ?? c.pred) : null),
    missing: (c) => el("del", {}, parsemark.shownText(c.truth)),
    extra: (c) => el("ins", {}, parsemark.shownText(c.pred)),
    changed: (c) => marked(c.truth, c.pred),
    covered: () => null,
    hole: () => null,
  };

  const cellNode = (cell, mark) => el("td", { class: `cell-${cell.kind} ${mark}`, title: cell.note ?? WORDS[cell.kind] },
    CONTENT[cell.kind](cell), cell.note ? el("small", { class: "cell-note" }, cell.note) : null);

  const MARKS = { both: "", missing: "−", extra: "+" };
  const TITLES = { both: null, missing: "only in the truth", extra: "only in the prediction" };
  const edge = (kind, scope) => el("th", { scope, class: `edge edge-${kind}`, title: TITLES[kind] }, MARKS[kind],
    kind === "both" ? el("span", { class: "visually-hidden" }, scope === "row" ? "row" : "column") : null);

  // `markOf` may give a cell one more class.
  parsemark.renderDiff = (diff, markOf = () => "", label = "Difference, cell by cell") => {
    if (!diff) return el("p", { class: "notice" }, "The tables are too large to be compared here cell by cell.");
    const legend = Object.entries(WORDS).map(([kind, word]) => el("li", { class: `count cell-${kind}` },
      el("strong", {}, String(diff.counts[kind])), ` ${word}`));
    const head = el("thead", {}, el("tr", {}, el("td", { class: "edge" }), diff.columns.map((kind) => edge(kind, "col"))));
    const body = diff.rows.map((row) => el("tr", {}, edge(row.kind, "row"), row.cells.map((cell) => cellNode(cell, markOf(cell)))));
    return el("div", {},
      el("ul", { class: "diff-counts", "aria-label": "Cells by kind of difference" }, legend),
      el("div", { class: "grid-frame", tabindex: "0", role: "region", "aria-label": label },
        el("table", { class: "grid diff" }, head, el("tbody", {}, body))));
  };
})();
