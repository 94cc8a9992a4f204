// One table in detail: difference, truth beside prediction, explanation, raw output.
"use strict";
(() => {
  const { el } = parsemark;

  const find = (elements, id) => (elements || []).find((e) => e.id === id);

  const side = (title, elements, emptyText) => el("section", { class: "side" }, el("h3", {}, title),
    elements.length ? elements.map((e) => (e.table ? parsemark.renderTable(e.table, `${title}: ${e.id}`)
      : el("pre", { tabindex: "0" }, parsemark.visible(e.html ?? e.text ?? e.latex ?? "no content"))))
      : el("p", { class: "muted" }, emptyText));

  const source = (title, elements) => {
    const texts = elements.flatMap((e) => [["HTML", e.html], ["LaTeX", e.latex], ["text", e.text]].filter(([, t]) => t));
    if (!texts.length) return null;
    return el("details", {}, el("summary", {}, title), texts.map(([kind, text]) =>
      el("div", {}, el("h4", {}, kind), el("pre", { tabindex: "0" }, parsemark.visible(text)))));
  };

  // Why the pair scores as it does, strongest first; each with the type of its error.
  const explanation = (explained, labels) => {
    if (!explained) return null;
    const left = explained.n_errors - explained.errors.length;
    const line = ([kind, message]) => el("li", {}, labels[kind] ? el("span", { class: "error-kind" }, labels[kind]) : null, labels[kind] ? " " : null, parsemark.foreign(parsemark.visible(message)));
    return el("section", { class: "explanation" },
      el("h3", {}, "What a reader loses ", el("span", { class: "muted" }, explained.title)),
      explained.errors.length ? el("ol", { tabindex: "0" }, explained.errors.map(line))
        : el("p", { class: "muted" }, "Nothing: every value can be found with its row and column."),
      left > 0 ? el("p", { class: "muted small" }, `and ${left} more`) : null);
  };

  const rawPanel = (page, parserIndex) => {
    const place = el("div", {});
    const show = async () => {
      if (place.childNodes.length) return;
      if (!page.raw) {
        place.append(el("p", { class: "muted" }, "Raw outputs are left out of the reports of large runs; the run directory keeps them under raw/."));
        return;
      }
      const outputs = await parsemark.load(`raw/${parsemark.pageFile(page.index)}`);
      const raw = outputs[parserIndex];
      const cut = raw && raw.text.length < raw.n_bytes ? `, of which ${parsemark.counted(raw.text.length, "character")} ${raw.text.length === 1 ? "is" : "are"} shown` : "";
      place.append(...(raw ? [el("p", { class: "muted small" }, `${parsemark.counted(raw.n_bytes, "byte")}${cut}`),
        el("pre", { tabindex: "0", class: "raw", "aria-label": "Raw output" }, parsemark.visible(raw.text))] : [el("p", { class: "muted" }, "The parser returned nothing.")]));
    };
    return el("details", { class: "raw-output", on: { toggle: (event) => event.target.open && show().catch((error) => parsemark.showError(place, error)) } },
      el("summary", {}, "Raw output of the parser for this page"), place);
  };

  // What a metric says of how it came to its value.
  const detailsOf = (match) => match.scores.filter((row) => row[6]).map(([, , metric, , , , told]) => el("details", { class: "raw-output" },
    el("summary", {}, `Details of ${parsemark.metricName(metric)}`),
    el("pre", { tabindex: "0", class: "raw", "aria-label": `Details of ${parsemark.metricName(metric)}` }, parsemark.visible(JSON.stringify(told, null, 2)))));

  // The pieces of a split table, one under the other.
  const stacked = (tables) => ({
    n_rows: tables.reduce((sum, t) => sum + t.n_rows, 0),
    n_cols: Math.max(...tables.map((t) => t.n_cols)),
    cells: tables.flatMap((t, i) => {
      const above = tables.slice(0, i).reduce((sum, other) => sum + other.n_rows, 0);
      return t.cells.map((cell) => ({ ...cell, row: cell.row + above }));
    }),
  });

  // The table that some elements hold together; null where none of them has cells.
  parsemark.tableOf = (elements, ids) => {
    const tables = ids.map((id) => find(elements, id)?.table).filter(Boolean);
    return tables.length ? stacked(tables) : null;
  };

  const textOf = (elements) => elements.map((e) => e.text ?? e.latex ?? e.html ?? "").join("\n");

  const textComparison = (truth, pred) => {
    if (!truth.length || !pred.length || [...truth, ...pred].some((e) => e.table)) return null;
    return el("section", {}, el("h3", {}, "Difference"), el("p", { class: "text-diff" }, parsemark.markedText(textOf(truth), textOf(pred))));
  };

  const comparison = (truth, pred) => {
    const [left, right] = [truth, pred].map((side) => side.map((e) => e.table).filter(Boolean));
    if (!left.length || !right.length) return textComparison(truth, pred);
    const pieces = right.length > 1 ? `The prediction has ${right.length} pieces; they are put one under the other here.` : null;
    return el("section", {}, el("h3", {}, "Difference"),
      pieces ? el("p", { class: "muted small" }, pieces) : null, parsemark.renderDiff(parsemark.diffTables(stacked(left), stacked(right))));
  };

  parsemark.renderDetail = (page, data, match, parserIndex) => {
    if (!match) return el("div", {}, rawPanel(page, parserIndex));
    const truth = match.truth.map((id) => find(page.truth?.elements, id)).filter(Boolean);
    const pred = match.pred.map((id) => find(data.prediction?.elements, id)).filter(Boolean);
    const explained = Object.hasOwn(data.explained, match.key) ? data.explained[match.key] : null;
    const unread = match.pred.length && !pred.length;
    return el("div", { class: "detail" },
      el("div", { class: explained ? "with-explanation" : "" }, comparison(truth, pred), explanation(explained, data.error_labels)),
      el("div", { class: "sides" },
        side("Truth", truth, page.truth ? "The truth has no such element here: the parser invented it." : "This page has no truth."),
        side("Prediction", pred, unread ? "The parser's whole text was scored instead of single elements. See the raw output below, or Whole pages." : "The parser returned nothing here.")),
      ...detailsOf(match), source("Truth as given", truth), source("Prediction as given", pred), rawPanel(page, parserIndex));
  };
})();
