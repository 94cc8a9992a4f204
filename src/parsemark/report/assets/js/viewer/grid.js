// A table of our model as an HTML table, rebuilt cell by cell.
"use strict";
(() => {
  const { el } = parsemark;
  const MOST_CHARACTERS = 600;
  const MOST_ROWS = 300;

  parsemark.shownText = (text) => {
    const visible = parsemark.visible(text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text);
    const rest = text.length - MOST_CHARACTERS;
    return parsemark.el("bdi", {}, visible, rest > 0 ? el("span", { class: "cut" }, ` … ${rest.toLocaleString("en")} more characters`) : null);
  };

  // `classOf` may give a cell a class.
  parsemark.renderTable = (table, label, classOf = () => null) => {
    const grid = parsemark.gridOf(table);
    const body = grid.slice(0, MOST_ROWS).map((row, r) => el("tr", {}, Array.from({ length: table.n_cols }, (_, c) => {
      const cell = row[c];
      if (!cell) return el("td", { class: "hole", title: "no cell here" });
      if (cell.row !== r || cell.col !== c) return null;
      return el(cell.header ? "th" : "td", { class: classOf(cell), rowspan: cell.rowspan > 1 && Math.min(cell.rowspan, MOST_ROWS - r), colspan: cell.colspan > 1 && cell.colspan }, parsemark.shownText(cell.text));
    })));
    const left = table.n_rows - MOST_ROWS;
    return el("div", { class: "grid-frame", tabindex: "0", role: "region", "aria-label": label },
      table.n_cols ? el("table", { class: "grid" }, el("tbody", {}, body)) : el("p", { class: "muted" }, "The table has no cells."),
      left > 0 ? el("p", { class: "muted small" }, `${left.toLocaleString("en")} more rows`) : null);
  };
})();
