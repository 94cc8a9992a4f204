// The cell-by-cell difference of two tables of our model ({n_rows, n_cols, cells}).
"use strict";
(() => {
  const MOST_POSITIONS = 20000;
  const fold = (text) => text.replace(/\s+/g, " ").trim();

  // For each grid position the cell that covers it, or undefined for a hole.
  parsemark.gridOf = (table) => {
    const grid = Array.from({ length: table.n_rows }, () => new Array(table.n_cols));
    for (const cell of table.cells) {
      for (let r = cell.row; r < cell.row + (cell.rowspan || 1); r += 1) {
        for (let c = cell.col; c < cell.col + (cell.colspan || 1); c += 1) grid[r][c] = cell;
      }
    }
    return grid;
  };

  const rowTexts = (grid) => grid.map((row) => Array.from(row, (cell) => (cell ? fold(cell.text) : "")).join(" "));
  const columnTexts = (grid, rows, width) =>
    Array.from({ length: width }, (_, c) => rows.map((r) => (grid[r][c] ? fold(grid[r][c].text) : "")).join(" "));

  const span = (cell) => `${cell.rowspan || 1}×${cell.colspan || 1}`;
  const isOrigin = (cell, r, c) => cell.row === r && cell.col === c;

  // A spanning cell counts once, where it starts; the rest of its area follows it.
  const compareCell = (t, p, place) => {
    if (!t && !p) return { kind: "hole" };
    const [tr, tc, pr, pc] = place;
    const truthStarts = t && isOrigin(t, tr, tc);
    const predStarts = p && isOrigin(p, pr, pc);
    if (t && !p) return truthStarts ? { kind: "missing", truth: t.text } : { kind: "covered" };
    if (p && !t) return predStarts ? { kind: "extra", pred: p.text } : { kind: "covered" };
    if (!truthStarts && !predStarts) return { kind: "covered" };
    if (truthStarts !== predStarts) {
      const whole = truthStarts ? p : t;
      const part = truthStarts ? t : p;
      const repeats = !fold(part.text) || fold(part.text) === fold(whole.text);
      const note = truthStarts ? `inside a predicted cell of ${span(p)}` : `part of a true cell of ${span(t)}`;
      return { kind: repeats ? "span" : truthStarts ? "missing" : "extra", truth: truthStarts ? t.text : undefined, pred: predStarts ? p.text : undefined, note };
    }
    const same = fold(t.text) === fold(p.text);
    const wrongSpan = span(t) !== span(p) ? `span ${span(p)} instead of ${span(t)}` : null;
    return { kind: same ? (wrongSpan ? "span" : "same") : "changed", truth: t.text, pred: p.text, note: wrongSpan };
  };

  // {rows: [{kind, cells: [...]}], columns: [kind...], counts} or null where the tables are too large. A cell in
  // which a cell of the truth begins says where: `at` is "row,column".
  parsemark.diffTables = (truth, pred) => {
    if (truth.n_rows * truth.n_cols > MOST_POSITIONS || pred.n_rows * pred.n_cols > MOST_POSITIONS) return null;
    const [a, b] = [parsemark.gridOf(truth), parsemark.gridOf(pred)];
    const rows = parsemark.alignLines(rowTexts(a), rowTexts(b));
    const together = rows.filter(([i, j]) => i !== null && j !== null);
    const columns = parsemark.alignLines(
      columnTexts(a, together.map(([i]) => i), truth.n_cols), columnTexts(b, together.map(([, j]) => j), pred.n_cols));
    const counts = { same: 0, changed: 0, missing: 0, extra: 0, span: 0 };
    const lineKind = ([i, j]) => (j === null ? "missing" : i === null ? "extra" : "both");
    const result = rows.map(([i, j]) => ({
      kind: lineKind([i, j]),
      cells: columns.map(([ci, cj]) => {
        const t = i !== null && ci !== null ? a[i][ci] : undefined;
        const p = j !== null && cj !== null ? b[j][cj] : undefined;
        const cell = compareCell(t, p, [i, ci, j, cj]);
        if (cell.kind in counts) counts[cell.kind] += 1;
        return t && isOrigin(t, i, ci) ? { ...cell, at: `${i},${ci}` } : cell;
      }),
    }));
    return { rows: result, columns: columns.map(lineKind), counts };
  };
})();
