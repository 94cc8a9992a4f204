// The order in which the viewer steps through pages and tables.
"use strict";
(() => {
  const FOUND = new Set(["pair", "split", "merge", "many"]);

  const entries = (list, keep, weight, ofPage = () => 0) => {
    const found = [];
    for (let i = 0; i < list.page.length; i += 1) {
      const kind = list.kinds[list.kind[i]];
      if (keep(kind, i)) found.push({ page: list.page[i], table: list.element[i], value: list.value[i], kind, weight: weight(i, kind) });
    }
    return found.sort((a, b) => ofPage(a.page) - ofPage(b.page) || a.weight - b.weight || a.page - b.page);
  };

  // Pages without a score come last.
  const byPage = (list) => (page) => (list.page_value[page] === null ? Number.MAX_VALUE : list.sign * list.page_value[page]);

  // A missed table is worse than any found one, an invented one is as bad.
  const badness = (list) => (i, kind) => (kind === "miss" || kind === "extra" ? -1 : list.value[i] ?? -1);

  // What a table earned, by page and id of the truth: a missed one earned nothing.
  const earned = (list) => {
    const found = new Map();
    for (let i = 0; i < list.page.length; i += 1) {
      const kind = list.kinds[list.kind[i]];
      if (kind !== "extra" && kind !== "unsure") found.set(`${list.page[i]} ${list.element[i]}`, { page: list.page[i], table: list.element[i], value: list.value[i] ?? 0 });
    }
    return found;
  };

  // Tables by how much A and B earn apart; then pages on which they do, for instance by what they invent.
  const apart = (list, other) => {
    if (!other) return [];
    const [first, second] = [earned(list), earned(other)];
    const tables = [...first].filter(([key]) => second.has(key))
      .map(([key, entry]) => ({ ...entry, weight: -Math.abs(entry.value - second.get(key).value) })).filter((e) => e.weight < -5e-5);
    const known = new Set(tables.map((e) => e.page));
    const pages = list.page_value.map((value, page) => ({ page, weight: value === null || other.page_value[page] === null ? 0 : -Math.abs(value - other.page_value[page]) }))
      .filter((e) => e.weight < -5e-5 && !known.has(e.page));
    const order = (a, b) => a.weight - b.weight || a.page - b.page;
    return [...tables.sort(order), ...pages.sort(order)];
  };

  const QUEUES = {
    all: { label: "All pages, in order", make: (pages) => pages.id.map((_, page) => ({ page })) },
    worst: { label: "Worst first", make: (_, list) => entries(list, (kind) => kind !== "unsure", badness(list), byPage(list)) },
    disagree: { label: "Metrics disagree most", make: (_, list) => entries(list, (kind, i) => FOUND.has(kind) && list.spread[i] > 0, (i) => -list.spread[i]) },
    apart: { label: "A and B differ most", make: (_, list, other) => apart(list, other) },
    missed: { label: "Missed", make: (_, list) => entries(list, (kind) => kind === "miss", (i) => list.page[i]) },
    invented: { label: "Invented", make: (_, list) => entries(list, (kind) => kind === "extra", (i) => list.page[i]) },
    failed: { label: "Failed pages", make: (_, list) => Object.keys(list.failed).map((page) => ({ page: Number(page) })) },
  };

  // Elements that have an error of one type, the worst first.
  const withError = (name) => (_, list) => {
    const having = new Set(list.errors[name] ?? []);
    return entries(list, (_kind, i) => having.has(i), badness(list));
  };

  // Missed and invented elements are types of errors where a protocol has such.
  parsemark.queuesOf = (errors) => {
    const named = new Set(errors.map((e) => e.name));
    const plain = Object.entries(QUEUES).filter(([key]) => !named.has(key));
    const hidden = Object.entries(QUEUES).filter(([key]) => named.has(key)).map(([key, q]) => [key, { ...q, hidden: true }]);
    return Object.fromEntries([...plain, ...hidden, ...errors.map((e) => [`error-${e.name}`, { label: e.label, make: withError(e.name) }])]);
  };

  // Whether a page has what "attribute=value" asks for; true for attributes that the run does not have.
  const hasAttribute = (pages, filter) => {
    const cutAt = filter.indexOf("=");
    const name = filter.slice(0, cutAt);
    if (cutAt < 1 || !Object.hasOwn(pages.attributes, name)) return () => true;
    const column = pages.attributes[name];
    const code = column.values.indexOf(filter.slice(cutAt + 1));
    return (page) => column.codes[page] === code;
  };

  // `wanted` says which pages are kept: {filters, failed, from, to, found}.
  parsemark.makeQueue = (queue, pages, list, other, wanted) => {
    const kept = pages.kept ? new Set(pages.kept) : null; // a report in one file has some of the pages
    const tests = wanted.filters.map((filter) => hasAttribute(pages, filter));
    const score = (page) => list.page_value[page];
    if (kept) tests.push((page) => kept.has(page));
    if (wanted.found) tests.push((page) => wanted.found.has(page));
    if (wanted.failed) tests.push((page) => Object.hasOwn(list.failed, page));
    if (wanted.from !== null) tests.push((page) => score(page) !== null && score(page) >= wanted.from);
    if (wanted.to !== null) tests.push((page) => score(page) !== null && score(page) <= wanted.to);
    return queue.make(pages, list, other).filter(({ page }) => tests.every((test) => test(page)));
  };

  parsemark.hasImage = (pages, index) => pages.images === true || pages.images.includes(index);
})();
