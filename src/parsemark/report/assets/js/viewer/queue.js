// The order in which the viewer steps through pages and tables.
"use strict";
(() => {
  const FOUND = new Set(["pair", "split", "merge", "many"]);

  const entries = (list, keep, weight) => {
    const found = [];
    for (let i = 0; i < list.page.length; i += 1) {
      const kind = list.kinds[list.kind[i]];
      if (keep(kind, i)) found.push({ page: list.page[i], table: list.element[i], value: list.value[i], kind, weight: weight(i, kind) });
    }
    return found.sort((a, b) => a.weight - b.weight || a.page - b.page);
  };

  // A missed table is worse than any found one, an invented one is as bad.
  const badness = (list) => (i, kind) => (kind === "miss" || kind === "extra" ? -1 : list.value[i] ?? -1);

  parsemark.QUEUES = {
    all: { label: "All pages, in order", make: (pages) => pages.id.map((_, page) => ({ page })) },
    worst: { label: "Worst tables first", make: (_, list) => entries(list, (kind) => kind !== "unsure", badness(list)) },
    disagree: { label: "Metrics disagree most", make: (_, list) => entries(list, (kind, i) => FOUND.has(kind) && list.spread[i] > 0, (i) => -list.spread[i]) },
    missed: { label: "Missed tables", make: (_, list) => entries(list, (kind) => kind === "miss", (i) => list.page[i]) },
    invented: { label: "Invented tables", make: (_, list) => entries(list, (kind) => kind === "extra", (i) => list.page[i]) },
    failed: { label: "Failed pages", make: (_, list) => Object.keys(list.failed).map((page) => ({ page: Number(page) })) },
  };

  // `filter` is "attribute=value" or empty.
  parsemark.makeQueue = (name, pages, list, filter) => {
    const all = parsemark.QUEUES[name].make(pages, list);
    const cutAt = filter.indexOf("=");
    const column = cutAt > 0 && Object.hasOwn(pages.attributes, filter.slice(0, cutAt)) ? pages.attributes[filter.slice(0, cutAt)] : null;
    if (!column) return all;
    const code = column.values.indexOf(filter.slice(cutAt + 1));
    return all.filter((entry) => column.codes[entry.page] === code);
  };

  parsemark.pageFile = (index) => `${String(Math.floor(index / 1000)).padStart(3, "0")}/${String(index).padStart(5, "0")}`;
  parsemark.hasImage = (pages, index) => pages.images === true || pages.images.includes(index);
})();
