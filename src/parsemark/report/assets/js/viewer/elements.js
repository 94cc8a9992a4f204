// The list of a page's tables: what answers what, and each score.
"use strict";
(() => {
  const { el } = parsemark;
  const KINDS = {
    pair: "found", split: "found in pieces", merge: "merged with another", many: "mixed up", miss: "missed", extra: "invented", unjudged: "predicted",
  };
  parsemark.theta = 0; // of the chosen protocol: what overlaps by less does not count as found
  const isPartly = ({ kind, overlap }) => kind === "pair" && overlap !== null && overlap <= parsemark.theta;
  parsemark.kindWord = (match) => (isPartly(match) ? "partly found" : KINDS[match.kind] ?? match.kind);
  parsemark.kindClass = (match) => `kind-${isPartly(match) ? "partly" : match.kind}`;
  parsemark.metricNames = {}; // of the chosen protocol
  parsemark.metricName = (name) => parsemark.metricNames[name] ?? name.replaceAll("_", " ");
  // Counts and lengths have no decimals.
  const scoreText = (value) => (Number.isInteger(value) && Math.abs(value) > 1 ? value.toLocaleString("en") : parsemark.number(value));

  // What people call an element: its caption, its first cell, or its first words; else its id.
  const LONGEST = 48;
  const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1).trimEnd()}…` : text);
  const wordsOf = (page, id) => {
    const element = (page?.elements ?? []).find((e) => e.id === id);
    if (!element) return null;
    const ties = (page.relations ?? []).filter(([, source, target]) => source === id || target === id).map(([, source, target]) => (source === id ? target : source));
    const caption = page.elements.find((e) => ties.includes(e.id) && e.category.endsWith("_caption") && e.text);
    const cell = element.table?.cells.find((c) => c.text.trim());
    return [caption?.text, cell?.text, element.text, element.latex].find((text) => text?.trim())?.trim().replace(/\s+/g, " ") ?? null;
  };
  // `page` is a page with its truth, or the truth itself.
  parsemark.elementName = (page, data, truth, pred) => {
    const own = [...truth.map((id) => wordsOf(page.elements ? page : page.truth, id)), ...(truth.length ? [] : pred.map((id) => wordsOf(data?.prediction, id)))];
    const names = own.filter(Boolean).map(shortened);
    const ids = truth.length ? truth : pred;
    return names.length ? `“${names.join("” + “")}”` : ids.join(" + ");
  };

  const scoresOf = (data, rule, key, truth, pred) => (data.scores[rule] || []).filter((row) => (row[0] === key || row[0] === truth) && row[1] === pred)
    .map((row) => (row.length > 6 ? [...row.slice(0, 6), data.details[row[6]]] : row));

  const chip = ([, , metric, value, status, message]) => el("span", { class: `chip${value === null ? " none" : ""}`, title: message ?? status ?? null },
    el("span", { class: "chip-name" }, parsemark.metricName(metric)), " ", value === null ? (status ?? "none").replaceAll("_", " ") : scoreText(value));

  // If all metrics lack a value for the same reason, show it once; for a missed element, not at all.
  const chips = (match) => {
    if (match.kind === "extra") return [];
    const reasons = new Set(match.scores.map(([, , , value, status, message]) => (value === null ? `${status} ${message ?? ""}` : null)));
    if (reasons.size !== 1 || reasons.has(null)) return match.scores.map(chip);
    const [, , , , status, message] = match.scores[0];
    return status === "no_prediction" ? [] : [el("span", { class: "chip none", title: message ?? null }, (status ?? "none").replaceAll("_", " "))];
  };

  // One entry for each match under `rule`: {truth, pred, kind, overlap, scores, key}.
  parsemark.matchesOf = (data, rule) => (data.matches[rule] || []).map(([truth, pred, kind, overlap]) => {
    const key = truth[0] ?? pred[0];
    return { truth, pred, kind, overlap, key, scores: scoresOf(data, rule, key, truth.join("+"), pred.join("+")) };
  });

  // A page without truth has no matches; what was predicted can be looked at all the same.
  parsemark.withoutTruth = (data) => (data.prediction?.elements || []).filter((e) => e.table)
    .map((e) => ({ truth: [], pred: [e.id], kind: "unjudged", overlap: null, key: e.id, scores: [] }));

  parsemark.nothingToMatch = (page) => el("p", { class: "muted" }, page.truth
    ? "Nothing to match here, neither true nor predicted."
    : "This page has no truth, so nothing is matched or scored, and no table was predicted.");

  const confidence = (data, match) => {
    const found = (data.prediction?.elements || []).find((e) => e.id === match.pred[0]);
    return found?.confidence === undefined ? null : el("span", { class: "chip" }, el("span", { class: "chip-name" }, "confidence"), " ", found.confidence.toFixed(2));
  };

  parsemark.renderMatches = (matches, page, data, chosen, choose) => {
    if (!matches.length) return parsemark.nothingToMatch(page);
    const untold = page.truth ? null : el("p", { class: "notice" }, "This page has no truth: these tables are predictions, and their correctness is unknown.");
    return el("div", {}, untold, el("ol", { class: "matches" }, matches.map((match) => {
      const button = el("button", { type: "button", class: `match ${parsemark.kindClass(match)}`, "aria-pressed": String(match === chosen), on: { click: () => choose(match) } },
        el("span", { class: "match-head" },
          el("span", { class: "kind" }, parsemark.kindWord(match)),
          el("span", { class: "ids", title: `truth ${match.truth.join(" + ") || "none"}, prediction ${match.pred.join(" + ") || "none"}` }, parsemark.foreign(parsemark.visible(parsemark.elementName(page, data, match.truth, match.pred))))),
        el("span", { class: "chips" },
          match.overlap === null ? null : el("span", { class: "chip" }, el("span", { class: "chip-name" }, "overlap"), " ", parsemark.number(match.overlap)),
          confidence(data, match), chips(match)));
      return el("li", {}, button);
    })));
  };

  // What a protocol that needs no truth found on the page: words with their status.
  const MAX_FOUND = 200;
  parsemark.renderFound = (data) => {
    const found = data.found ?? [];
    if (!found.length) return null;
    const counts = [...new Set(found.map(([what]) => what))].map((what) => `${found.filter(([w]) => w === what).length} ${what}`);
    return el("div", {}, el("h2", {}, "Found on the page"), el("p", { class: "muted small" }, `Places: ${counts.join(", ")}.`),
      el("ul", { class: "document-rows text-diff small" }, found.slice(0, MAX_FOUND).map(([what, kind, truth, pred]) =>
        el("li", {}, el("span", { class: `match-kind ${kind}` }, what), " ",
          truth ? (kind === "miss" ? el("del", {}, parsemark.foreign(truth)) : parsemark.foreign(truth)) : null, truth && pred ? " → " : null,
          pred ? el("ins", {}, parsemark.foreign(pred)) : null))),
      found.length > MAX_FOUND ? el("p", { class: "muted small" }, `… and ${found.length - MAX_FOUND} more`) : null);
  };

  parsemark.renderParse = (data) => {
    const parse = data.parse;
    if (!parse) return el("p", { class: "notice" }, "This parser was not run on this page.");
    const facts = [
      ["status", parse.status.replaceAll("_", " ")],
      ["CPU time", parse.cpu_s === undefined ? null : `${parse.cpu_s.toFixed(3)} s`],
      ["wall time", parse.wall_s === undefined ? null : `${parse.wall_s.toFixed(3)} s`],
      ["memory", parse.peak_memory_mb === undefined ? null : `${Math.round(parse.peak_memory_mb)} MB`],
      ["output", parsemark.counted(parse.n_bytes ?? 0, "byte")],
      ...Object.entries(data.page_scores).map(([name, s]) => [name.replaceAll("_", " "), s.value === null ? null : Number.isInteger(s.value) ? s.value.toLocaleString("en") : parsemark.number(s.value), s.message]),
    ];
    const failed = parse.status !== "ok" || data.prediction?.message;
    return el("div", {},
      el("p", { class: "parse-facts small" }, facts.filter(([, value]) => value !== null).map(([name, value, note]) =>
        el("span", { title: note }, el("span", { class: "muted" }, `${name} `), value))),
      failed ? el("div", { class: "notice error" }, el("strong", {}, "The parser failed here. "),
        parsemark.foreign(parsemark.visible(parse.error ?? data.prediction?.message ?? "")),
        parse.stderr_tail ? el("pre", { tabindex: "0" }, parsemark.visible(parse.stderr_tail)) : null) : null);
  };
})();
