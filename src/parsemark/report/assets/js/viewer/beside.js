// Two contenders beside the truth: what each made of the same table, and in which cells they part.
"use strict";
(() => {
  const { el } = parsemark;
  const WORDS = { both: "right in both", first: "right in A alone", second: "right in B alone", neither: "wrong in both" };

  const holding = (matches, id) => matches.find((m) => m.truth.includes(id) || (!m.truth.length && m.pred.includes(id))) ?? null;

  const scoreOf = (match, metric) => match?.scores.find((row) => row[2] === metric)?.[3] ?? null;

  // One row for each true table, then what either invented.
  const rowsOf = (contenders) => {
    const truths = [...new Set(contenders.flatMap((c) => c.matches.flatMap((m) => m.truth)))];
    const rows = truths.map((id) => ({ id, matches: contenders.map((c) => holding(c.matches.filter((m) => m.truth.length), id)) }));
    contenders.forEach((c, side) => {
      for (const match of c.matches.filter((m) => !m.truth.length)) {
        rows.push({ id: match.key, side, invented: true, matches: contenders.map((_, k) => (k === side ? match : null)) });
      }
    });
    return rows;
  };

  const name = (contender, letter) => el("span", { class: `parser-name parser-${contender.colour}` }, el("span", { class: "swatch" }), el("span", {}, `${letter} `, parsemark.foreign(contender.name)));

  const outcome = (match, metric) => {
    if (!match) return el("span", { class: "muted" }, "–");
    const score = scoreOf(match, metric);
    return el("span", { class: parsemark.kindClass(match) }, el("span", { class: "kind" }, parsemark.kindWord(match)), score === null ? null : ` ${parsemark.number(score)}`);
  };

  const nameOf = (page, contenders, row) => (row.invented ? parsemark.elementName(page, contenders[row.side].data, [], row.matches[row.side].pred)
    : parsemark.elementName(page, null, [row.id], []));

  const isRow = (row, table, side) => row.id === table && (side === null || !row.invented || row.side === side);

  parsemark.chooseBeside = (contenders, view) => {
    const rows = rowsOf(contenders);
    return { rows, row: rows.find((r) => isRow(r, view.table, null)) ?? rows.find((r) => !r.invented) ?? rows[0] ?? null };
  };

  parsemark.renderBesideMatches = (page, contenders, rows, chosen, metric, choose) => {
    if (!rows.length) return parsemark.nothingToMatch(page);
    const line = (row) => {
      const scores = row.matches.map((m) => (m ? scoreOf(m, metric) ?? 0 : null));
      const difference = row.invented || scores.includes(null) ? null : scores[0] - scores[1];
      return el("tr", { class: row === chosen ? "chosen" : "" },
        el("th", { scope: "row", class: "name" }, el("button", { type: "button", "aria-pressed": String(row === chosen), on: { click: () => choose(row) } }, row.invented ? `${row.matches.some((m) => m?.kind === "unjudged") ? "predicted" : "invented"} ` : null, parsemark.foreign(parsemark.visible(nameOf(page, contenders, row))))),
        row.matches.map((m) => el("td", {}, outcome(m, metric))),
        el("td", { class: difference === null || Math.abs(difference) < 5e-5 ? "" : difference > 0 ? "delta-up" : "delta-down" }, difference === null ? "–" : parsemark.signed(difference)));
    };
    return el("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Tables of the page by both" }, el("table", { class: "numbers beside-matches" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "name" }, "Table"), contenders.map((c, k) => el("th", { scope: "col" }, name(c, "AB"[k]))), el("th", { scope: "col" }, `A − B (${parsemark.metricName(metric)})`))),
      el("tbody", {}, rows.map(line))));
  };

  // Truth cell ("row,column") to what a contender made of it.
  const outcomes = (diff) => {
    const found = new Map();
    for (const row of diff?.rows ?? []) for (const cell of row.cells) if (cell.at) found.set(cell.at, cell);
    return found;
  };

  const verdictOf = (a, b) => {
    const [right, also] = [a?.kind === "same", b?.kind === "same"];
    return right && also ? "both" : right ? "first" : also ? "second" : "neither";
  };

  const verdicts = (truth, sides) => {
    const [a, b] = sides.map((side) => outcomes(side.diff));
    return new Map(truth.cells.map((cell) => {
      const key = `${cell.row},${cell.col}`;
      const verdict = verdictOf(a.get(key), b.get(key));
      const apart = verdict === "neither" && (a.get(key)?.kind !== b.get(key)?.kind || a.get(key)?.pred !== b.get(key)?.pred);
      return [key, { verdict, apart: sides.every((side) => side.diff) && (apart || verdict === "first" || verdict === "second") }];
    }));
  };

  const predictionOf = (contender, match) => parsemark.tableOf(contender.data.prediction?.elements, match?.pred ?? []);

  const panel = (contender, letter, match, side, marks) => el("section", { class: "side" },
    el("h3", {}, name(contender, letter)),
    match && match.kind !== "miss" ? el("p", { class: "small" }, outcome(match, contender.metric), match.pred.length > 1 ? ` · ${match.pred.length} pieces, one under the other` : "", match.truth.length > 1 ? ` · holds ${match.truth.length} true tables` : "") : null,
    !match || match.kind === "miss" ? el("p", { class: "muted" }, contender.data.parse && contender.data.parse.status !== "ok" ? `The parser failed here: ${contender.data.parse.status.replaceAll("_", " ")}.` : "Not found.")
      : side.diff ? parsemark.renderDiff(side.diff, (cell) => (cell.at && marks.get(cell.at)?.apart ? "apart" : ""), `${letter}: difference, cell by cell`)
        : side.table ? parsemark.renderTable(side.table, `${letter}: prediction`) : el("p", { class: "muted" }, "The prediction holds no cells."));

  const tally = (marks) => {
    const counts = { both: 0, first: 0, second: 0, neither: 0 };
    for (const { verdict } of marks.values()) counts[verdict] += 1;
    return el("ul", { class: "diff-counts", "aria-label": "Cells of the truth by who has them right" },
      Object.entries(WORDS).map(([kind, word]) => el("li", { class: `count verdict-${kind}` }, el("strong", {}, String(counts[kind])), ` ${word}`)));
  };

  parsemark.renderBeside = (page, contenders, row) => {
    if (!row) return el("div", {});
    const truth = row.invented ? null : parsemark.tableOf(page.truth?.elements, [row.id]);
    const sides = contenders.map((c, k) => {
      const table = predictionOf(c, row.matches[k]);
      return { table, diff: truth && table ? parsemark.diffTables(truth, table) : null };
    });
    const marks = truth ? verdicts(truth, sides) : new Map();
    const mark = (cell) => `verdict-${marks.get(`${cell.row},${cell.col}`)?.verdict ?? "both"}`;
    return el("div", { class: "detail" },
      el("section", {}, el("h2", {}, "Side by side"),
        truth ? tally(marks) : null,
        truth ? el("p", { class: "muted small" }, "Truth: coloured by who is right. A, B: frames mark differences.") : null),
      el("div", { class: "three-sides" },
        el("section", { class: "side" }, el("h3", {}, "Truth"), truth ? parsemark.renderTable(truth, "Truth", mark) : el("p", { class: "muted" }, !page.truth ? "This page has no truth." : row.invented ? "There is no table here." : "The truth has no cells.")),
        contenders.map((c, k) => panel(c, "AB"[k], row.matches[k], sides[k], marks))));
  };
})();
