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

  const figureTable = (data, a, b) => {
    const rows = data.columns.filter((c) => data.figures[a]?.[c.key] != null && data.figures[b]?.[c.key] != null).map((c) => {
      const [x, y] = [data.figures[a][c.key], data.figures[b][c.key]];
      return el("tr", {}, el("th", { scope: "row", class: "name" }, c.label), el("td", {}, parsemark.number(x, c.digits)), el("td", {}, parsemark.number(y, c.digits)),
        el("td", { class: deltaClass(x - y, c.higher_is_better, c.digits) }, parsemark.signed(x - y, c.digits)));
    });
    return el("div", { class: "table-frame limited", tabindex: "0", role: "region", "aria-label": "Figures of both" }, el("table", { class: "numbers" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "name" }, "Figure"), el("th", { scope: "col" }, parsemark.foreign(a)), el("th", { scope: "col" }, parsemark.foreign(b)), el("th", { scope: "col" }, "A − B"))),
      el("tbody", {}, rows)));
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

  // Every n-th page where there are more than can be told apart.
  const some = (rows) => rows.filter((_, i) => i % Math.ceil(rows.length / MOST_POINTS) === 0);

  const scatter = (data, pages, rows, a, b) => ({
    key: "page-scores", title: "Page by page", caption: `One point for each page: ${data.primary} of both parsers. ${data.higher_is_better ? "Below" : "Above"} the diagonal A is better.`,
    x: { label: `A: ${a}`, low: 0, high: data.top }, y: { label: `B: ${b}`, low: 0, high: data.top }, square: true,
    guides: [{ label: "", x: [0, data.top], y: [0, data.top] }],
    series: [{ name: "pages", mark: "points", faint: true, x: rows.map((r) => r.x), y: rows.map((r) => r.y),
      labels: rows.map((r) => pages.id[r.index]), links: rows.map((r) => viewerLink(pages.id[r.index], a, b)) }],
  });

  const pageTable = (pages, rows, a, b, higher) => {
    const changed = rows.filter((r) => Math.abs(r.difference) > 1e-9).sort((r, s) => Math.abs(s.difference) - Math.abs(r.difference) || r.index - s.index);
    const better = changed.filter((r) => (r.difference > 0) === higher).length;
    const line = (r) => el("tr", {}, el("th", { scope: "row", class: "name" }, el("a", { href: viewerLink(pages.id[r.index], a, b) }, parsemark.foreign(pages.id[r.index]))),
      el("td", {}, parsemark.number(r.x)), el("td", {}, parsemark.number(r.y)),
      el("td", { class: deltaClass(r.difference, higher) }, parsemark.signed(r.difference)));
    const sideBySide = `viewer.html#${new URLSearchParams({ parser: a, with: b, queue: "apart" })}`;
    return [el("p", {}, el("a", { href: sideBySide }, "Look at both beside the truth"), ", where they differ most first."),
      el("p", {}, `A is better on ${parsemark.counted(better, "page")}, B on ${changed.length - better}, and they are equal on ${rows.length - changed.length}.`),
      el("div", { class: "table-frame limited", tabindex: "0", role: "region", "aria-label": "Pages that differ most" }, el("table", { class: "numbers" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "name" }, "Page"), el("th", { scope: "col" }, "A"), el("th", { scope: "col" }, "B"), el("th", { scope: "col" }, "A − B"))),
        el("tbody", {}, changed.slice(0, SHOWN).map(line))))];
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
    place.replaceChildren(el("div", { class: "compare-columns" },
      el("section", {}, el("h2", {}, "Figures"), figureTable(data, a, b), el("h2", {}, "Pages that differ most"), pageTable(pages, rows, a, b, data.higher_is_better)),
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
