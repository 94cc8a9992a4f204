// Two parsers beside each other: figures, significance, and the pages on which they differ.
"use strict";
(() => {
  const { el } = parsemark;
  const place = document.getElementById("comparison");
  const choice = { a: document.getElementById("a"), b: document.getElementById("b") };
  const SHOWN = 30;
  const MOST_POINTS = 1500;

  const answer = (data, a, b) => {
    if (a === b) return "Choose two different parsers.";
    const found = data.verdicts.find((v) => (v.a === a && v.b === b) || (v.a === b && v.b === a));
    return found?.words ?? "These parsers were not tested against each other.";
  };

  // What is shown as 0 has no colour.
  const deltaClass = (difference, higher, digits = 3) => (!Number(difference.toFixed(digits)) ? "" : (difference > 0) === higher ? "delta-up" : "delta-down");

  const figureTable = (data, columns, label, a, b) => {
    const rows = columns.filter((c) => data.figures[a]?.[c.key] != null && data.figures[b]?.[c.key] != null).map((c) => {
      const [x, y] = [data.figures[a][c.key], data.figures[b][c.key]];
      return el("tr", {}, el("th", { scope: "row", class: "name" }, c.label), el("td", {}, parsemark.number(x, c.digits)), el("td", {}, parsemark.number(y, c.digits)),
        el("td", { class: deltaClass(x - y, c.higher_is_better, c.digits) }, parsemark.signed(x - y, c.digits)));
    });
    return el("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": label }, el("table", { class: "numbers" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "name" }, "Score"), el("th", { scope: "col" }, parsemark.foreign(a)), el("th", { scope: "col" }, parsemark.foreign(b)), el("th", { scope: "col" }, "A − B"))),
      el("tbody", {}, rows)));
  };

  // The main scores are beside the chart; the others are folded.
  const figureTables = (data, a, b) => {
    const others = data.columns.filter((c) => !c.main);
    const main = figureTable(data, data.columns.filter((c) => c.main), "Main scores", a, b);
    const more = () => el("details", {}, el("summary", {}, "More scores"), figureTable(data, others, "More scores", a, b));
    return others.length ? [main, more()] : [main];
  };

  const differences = (pages, first, second) => {
    const found = [];
    for (let i = 0; i < pages.id.length; i += 1) {
      const [x, y] = [first[i], second[i]];
      if (x !== null && y !== null) found.push({ index: i, x, y, difference: x - y });
    }
    return found;
  };

  // The page in the viewer, one of the two beside the other.
  const viewerLink = (page, parser, other) => `viewer.html#${new URLSearchParams({ page, parser, with: other })}`;

  // Every n-th page if there are too many to distinguish.
  const some = (rows) => rows.filter((_, i) => i % Math.ceil(rows.length / MOST_POINTS) === 0);

  const scatter = (data, pages, rows, a, b) => ({
    key: "page-scores", title: "Page by page", caption: `One point per page. A is better ${data.higher_is_better ? "below" : "above"} the diagonal.`,
    x: { label: `A: ${a}`, low: 0, high: data.top }, y: { label: `B: ${b}`, low: 0, high: data.top }, square: true,
    guides: [{ label: "", x: [0, data.top], y: [0, data.top] }],
    series: [{ name: "pages", mark: "points", faint: true, x: rows.map((r) => r.x), y: rows.map((r) => r.y),
      labels: rows.map((r) => pages.id[r.index]), links: rows.map((r) => viewerLink(pages.id[r.index], a, b)) }],
  });

  const BUCKETS = {
    fixed: ["A better", "A has the better score"], regressed: ["B better", "B has the better score"],
    failing: ["Equal, imperfect", "equal scores, below the best possible"], unchanged: ["Both perfect", "both have the best possible score"],
  };
  const SAME = 1e-9;

  const bucketsOf = (rows, data) => {
    const best = data.higher_is_better ? data.top : 0;
    const found = { fixed: [], regressed: [], failing: [], unchanged: [] };
    for (const row of rows) {
      const gain = data.higher_is_better ? row.difference : -row.difference;
      const kind = Math.abs(gain) > SAME ? (gain > 0 ? "fixed" : "regressed") : Math.abs(row.x - best) > SAME ? "failing" : "unchanged";
      found[kind].push(row);
    }
    for (const own of Object.values(found)) own.sort((r, s) => Math.abs(s.difference) - Math.abs(r.difference) || r.index - s.index);
    return found;
  };

  // Both outputs beside each other; words that only one of them has are marked.
  const outputs = async (index, i, j, names) => {
    const page = await parsemark.load(`pages/${parsemark.pageFile(index)}`);
    const [a, b] = [i, j].map((k) => parsemark.outputText(page.parsers[k].prediction));
    const runs = parsemark.diffWords(b, a);
    const side = (name, text, kind, tag) => el("section", { class: "side" }, el("h4", {}, parsemark.foreign(name)),
      text ? el("p", { class: "text-diff small" }, runs.filter(([k]) => k === "same" || k === kind).map(([k, words]) => el(k === kind ? tag : "span", {}, parsemark.visible(words))))
        : el("p", { class: "muted small" }, "No output."));
    return el("div", { class: "sides" }, side(`A ${names[0]}`, a, "new", "ins"), side(`B ${names[1]}`, b, "gone", "del"));
  };

  const pageEntry = (pages, row, i, j, names, higher) => {
    const place = el("div", {});
    const show = async () => {
      if (!place.firstChild) place.replaceChildren(await outputs(row.index, i, j, names));
    };
    return el("details", { class: "page-entry", on: { toggle: (event) => event.target.open && show().catch((error) => parsemark.showError(place, error)) } },
      el("summary", {}, parsemark.foreign(pages.id[row.index]), ` A ${parsemark.number(row.x)}, B ${parsemark.number(row.y)}, `,
        el("span", { class: deltaClass(row.difference, higher) }, parsemark.signed(row.difference))),
      el("p", { class: "small" }, el("a", { href: viewerLink(pages.id[row.index], ...names) }, "Open beside the page")), place);
  };

  const bucketList = (data, pages, rows, i, j) => {
    const names = [pages.parsers[i].name, pages.parsers[j].name];
    const found = bucketsOf(rows, data);
    const counts = el("dl", { class: "facts" }, Object.entries(BUCKETS).map(([kind, [word, meaning]]) =>
      el("div", { title: meaning }, el("dt", {}, word), el("dd", {}, found[kind].length.toLocaleString("en")))));
    const lists = Object.entries(BUCKETS).filter(([kind]) => kind !== "unchanged" && found[kind].length).map(([kind, [word, meaning]]) =>
      el("section", {}, el("h3", {}, `${word} `, el("span", { class: "muted small" }, meaning)),
        found[kind].slice(0, SHOWN).map((row) => pageEntry(pages, row, i, j, names, data.higher_is_better)),
        found[kind].length > SHOWN ? el("p", { class: "muted small" }, `and ${parsemark.counted(found[kind].length - SHOWN, "more page")}`) : null));
    const sideBySide = `viewer.html#${new URLSearchParams({ parser: names[0], with: names[1], queue: "apart" })}`;
    return [counts, el("p", {}, el("a", { href: sideBySide }, "Step through the pages, largest difference first")), ...lists];
  };

  const protocol = document.getElementById("protocol");

  const show = async (all, pages) => {
    const k = protocol ? Number(protocol.value) : 0;
    const data = all.protocols[k];
    const [i, j] = [Number(choice.a.value), Number(choice.b.value)];
    const [a, b] = [pages.parsers[i].name, pages.parsers[j].name];
    document.getElementById("answer").textContent = answer(data, a, b);
    const done = () => { document.documentElement.dataset.ready = `${i}-${j}`; };
    if (i === j) {
      place.replaceChildren();
      done();
      return;
    }
    const [first, second] = await Promise.all([parsemark.load(`values/${k}/${i}`), parsemark.load(`values/${k}/${j}`)]);
    const rows = differences(pages, first, second);
    place.replaceChildren(
      el("h2", {}, "Pages"), ...bucketList(data, pages, rows, i, j),
      el("div", { class: "compare-columns" },
        el("section", {}, el("h2", {}, "Scores"), ...figureTables(data, a, b)),
        el("section", {}, el("h2", {}, "Page by page"), parsemark.chartFigure(scatter(data, pages, some(rows), a, b), {}))));
    done();
  };

  const start = ([data, pages]) => {
    const names = pages.parsers.map((p) => p.name);
    const fromHash = () => {
      const hash = parsemark.readHash();
      // Without a choice in the address: the two best, which the page was written with.
      for (const side of ["a", "b"]) {
        const asked = names.indexOf(hash.get(side) ?? "");
        const written = [...choice[side].options].findIndex((option) => option.defaultSelected);
        choice[side].value = String(asked >= 0 ? asked : Math.max(written, 0));
      }
      return show(data, pages);
    };
    const write = () => parsemark.writeHash({ a: names[choice.a.value], b: names[choice.b.value] });
    choice.a.addEventListener("change", write);
    choice.b.addEventListener("change", write);
    if (protocol) protocol.addEventListener("change", () => show(data, pages));
    document.getElementById("swap").addEventListener("click", () => {
      [choice.a.value, choice.b.value] = [choice.b.value, choice.a.value];
      write();
    });
    addEventListener("hashchange", fromHash);
    return fromHash();
  };
  Promise.all([parsemark.load("compare"), parsemark.load("pages")]).then(start).catch((error) => parsemark.showError(place, error));
})();
