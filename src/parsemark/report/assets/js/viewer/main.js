// The viewer: state lives in the address, so that every view can be linked to.
"use strict";
(() => {
  const { el } = parsemark;
  const byId = (id) => document.getElementById(id);
  const state = { pages: null, queue: [], position: 0, view: null, turn: 0 };
  const THUMBNAIL = 112; // pixels that one needs in the strip

  const indexOf = (parsers, name) => (name === null ? -1 : (parsers ?? []).findIndex((p) => p.name === name));

  // Second parser to show: "" is none, "3" a parser of this run, "old-3" one of the older run.
  const besideFrom = (hash, parser) => {
    const [own, old] = [indexOf(state.pages.parsers, hash.get("with")), indexOf(state.pages.older?.parsers, hash.get("old"))];
    if (own >= 0 && own !== parser) return String(own);
    return old >= 0 ? `old-${old}` : "";
  };
  const besideNumber = (beside) => Number(beside.replace("old-", ""));
  const isOlder = (beside) => beside.startsWith("old-");
  const besideParser = (beside) => (isOlder(beside) ? state.pages.older : state.pages).parsers[besideNumber(beside)];

  const fromHash = () => {
    const hash = parsemark.readHash();
    const protocol = Math.max(0, state.pages.protocols.findIndex((p) => p.spec === hash.get("protocol")));
    const { rule, rules, errors } = state.pages.protocols[protocol];
    const queues = parsemark.queuesOf(errors);
    // Without a choice in the address: the leader at its worst page, beside the runner-up.
    const [leader, second] = state.pages.protocols[protocol].best;
    const isOpen = !["parser", "with", "old", "page", "queue", "filter", "find", "failed", "from", "to"].some((key) => hash.has(key));
    const bound = (key) => (hash.get(key) && Number.isFinite(Number(hash.get(key))) ? Number(hash.get(key)) : null);
    const asked = indexOf(state.pages.parsers, hash.get("parser"));
    const parser = asked >= 0 ? asked : (leader ?? 0);
    return {
      parser,
      protocol,
      beside: isOpen && second !== undefined ? String(second) : besideFrom(hash, parser),
      queue: Object.hasOwn(queues, hash.get("queue") ?? "") ? hash.get("queue") : isOpen ? "worst" : "all",
      filters: hash.getAll("filter"),
      find: hash.get("find") ?? "",
      failed: hash.get("failed") === "yes",
      from: bound("from"),
      to: bound("to"),
      rule: rules.includes(hash.get("rule")) ? hash.get("rule") : rule,
      page: hash.get("page"),
      table: hash.get("table"),
    };
  };

  // Names in the address that this report does not have: show another parser, with a message.
  const unknownNames = (hash) => {
    const named = [["parser", state.pages.parsers], ["with", state.pages.parsers], ["old", state.pages.older?.parsers]];
    const missing = named.filter(([key, parsers]) => hash.get(key) && indexOf(parsers, hash.get(key)) < 0).map(([key]) => hash.get(key));
    return hash.get("page") && !state.pages.id.includes(hash.get("page")) ? [...missing, hash.get("page")] : missing;
  };

  const link = (view, changes, replace = false) => {
    const next = { ...view, ...changes };
    parsemark.writeHash({
      page: next.page,
      table: next.table,
      parser: state.pages.parsers[next.parser].name,
      with: next.beside && !isOlder(next.beside) ? besideParser(next.beside).name : "",
      old: isOlder(next.beside) ? besideParser(next.beside).name : "",
      queue: next.queue === "all" ? "" : next.queue,
      filter: next.filters,
      find: next.find,
      failed: next.failed ? "yes" : "",
      from: next.from,
      to: next.to,
      protocol: next.protocol ? state.pages.protocols[next.protocol].spec : "",
      rule: next.rule === null || next.rule === state.pages.protocols[next.protocol].rule ? "" : next.rule,
    }, replace);
    if (replace) show();
  };

  const locate = (view) => {
    const index = state.pages.id.indexOf(view.page ?? "");
    if (index < 0) return 0;
    const exact = state.queue.findIndex((e) => e.page === index && (e.table ?? null) === (view.table ?? null));
    return exact >= 0 ? exact : state.queue.findIndex((e) => e.page === index);
  };

  const goTo = (position) => {
    const entry = state.queue[position];
    if (entry) link(state.view, { page: state.pages.id[entry.page], table: entry.table ?? null });
  };

  // What the names in the strip do not share: cut off, they would all look alike.
  const ownEnding = (names) => {
    const shared = names.reduce((a, b) => { let n = 0; while (n < a.length && a[n] === b[n]) n += 1; return a.slice(0, n); });
    const cut = new Set(names).size > 1 ? Math.max(...["-", "_", "/", ".", " "].map((c) => shared.lastIndexOf(c))) + 1 : 0;
    return (name) => (cut > 3 ? `…${name.slice(cut)}` : name);
  };

  const showStrip = () => {
    const room = Math.max(3, Math.floor(byId("strip").clientWidth / THUMBNAIL));
    const from = Math.max(0, Math.min(state.position - Math.floor(room / 2), state.queue.length - room));
    const near = state.queue.slice(from, from + room);
    const short = near.length ? ownEnding(near.map((entry) => state.pages.id[entry.page])) : null;
    byId("strip").replaceChildren(...near.map((entry, offset) => {
      const index = entry.page;
      const name = state.pages.id[index];
      const picture = parsemark.hasImage(state.pages, index)
        ? el("img", { src: parsemark.picture(`thumbnails/${parsemark.pageFile(index)}.jpg`), alt: "", loading: "lazy" })
        : el("span", { class: "no-thumbnail" });
      return el("li", {}, el("button", { type: "button", title: entry.table ? `${name}, ${entry.table}` : name, "aria-current": from + offset === state.position ? "true" : null, on: { click: () => goTo(from + offset) } },
        picture, el("span", { class: "thumb-name" }, parsemark.foreign(entry.table ? `${short(name)} · ${entry.table}` : short(name)))));
    }));
  };

  const showPosition = () => {
    const here = state.position >= 0 ? state.position + 1 : "–";
    byId("position").textContent = state.queue.length ? `${here} of ${state.queue.length.toLocaleString("en")}` : "none";
    byId("previous").disabled = state.position <= 0;
    byId("next").disabled = state.position >= state.queue.length - 1;
  };

  const spaced = (name) => name.replaceAll("_", " ");

  // What the corpus says of a page, and what was seen in its file.
  const showAttributes = (page) => {
    const all = Object.entries(page.attributes).filter(([, value]) => value !== false && value !== null);
    const groups = [["Corpus", all.filter(([name]) => !state.pages.seen.includes(name))], ["File", all.filter(([name]) => state.pages.seen.includes(name))]];
    const words = ([name, value]) => parsemark.foreign(value === true ? spaced(name) : `${spaced(name)} ${value}`);
    byId("attributes").hidden = !all.length;
    byId("attributes").replaceChildren(el("summary", {}, parsemark.counted(all.length, "attribute")), el("dl", {}, groups.filter(([, own]) => own.length).flatMap(([title, own]) =>
      [el("dt", {}, title), el("dd", {}, own.flatMap((one, k) => [k ? " · " : null, words(one)]))])));
  };

  const chooseMatch = (view, matches) => matches.find((m) => m.key === view.table || m.truth.includes(view.table) || m.pred.includes(view.table))
    ?? matches.find((m) => m.kind !== "extra") ?? matches[0] ?? null;

  const showHead = (page) => {
    byId("title").replaceChildren(parsemark.foreign(page.id));
    byId("where").replaceChildren("Page ", String(page.page_number), " of ", parsemark.foreign(page.document));
    showAttributes(page);
  };

  const showOne = (page, view, contender) => {
    const { data, matches } = contender;
    const match = chooseMatch(view, matches);
    const choose = (m) => link(view, { page: page.id, table: m.key }, true);
    const chooseElement = (element, side) => {
      const found = matches.find((m) => m[side === null ? "truth" : "pred"].includes(element.id));
      if (found) choose(found);
    };
    contender.selected = new Set(match?.pred);
    byId("sheet").replaceChildren(parsemark.renderSheet(page, [contender], new Set(match?.truth), chooseElement));
    byId("matches").replaceChildren(parsemark.renderMatches(matches, page, data, match, choose));
    byId("parse").replaceChildren(parsemark.renderParse(data));
    byId("found").replaceChildren(...[parsemark.renderFound(data)].filter(Boolean));
    byId("detail").replaceChildren(parsemark.renderDetail(page, data, match, view.parser));
  };

  const showTwo = (page, view, contenders) => {
    const { rows, row } = parsemark.chooseBeside(contenders, view);
    const choose = (r) => link(view, { page: page.id, table: r.id }, true);
    const chooseElement = (element, side) => {
      const found = rows.find((r) => (side === null ? r.id === element.id && !r.invented : r.matches[side]?.pred.includes(element.id)));
      if (found) choose(found);
    };
    contenders.forEach((c, k) => { c.selected = new Set(row?.matches[k]?.pred); });
    byId("sheet").replaceChildren(parsemark.renderSheet(page, contenders, new Set(row && !row.invented ? [row.id] : []), chooseElement));
    byId("matches").replaceChildren(parsemark.renderBesideMatches(page, contenders, rows, row, contenders[0].metric, choose));
    byId("parse").replaceChildren(...contenders.flatMap((c, k) => [el("h3", {}, `${"AB"[k]} `, parsemark.foreign(c.name)), parsemark.renderParse(c.data)]));
    byId("detail").replaceChildren(parsemark.renderBeside(page, contenders, row));
    byId("found").replaceChildren(...contenders.flatMap((c) => (c.data.found?.length ? [el("h3", {}, parsemark.foreign(c.name)), parsemark.renderFound(c.data)] : [])));
  };

  const NOT_SCORED = { matches: {}, scores: {}, page_scores: {}, details: [], explained: {}, found: [] };
  const NOTHING = { parse: null, scored: [], prediction: null };

  // What a parser made of a page, with what the chosen protocol says about it.
  const contender = (page, stored, parser, view, ending = "") => {
    const data = { ...stored, ...(stored.scored[view.protocol] ?? NOT_SCORED) };
    const { main_metric: metric, metric_names, errors } = state.pages.protocols[view.protocol];
    parsemark.metricNames = metric_names;
    parsemark.theta = state.pages.protocols[view.protocol].theta;
    data.error_labels = Object.fromEntries(errors.map((e) => [e.name, e.label]));
    return { data, name: parser.name + ending, colour: parser.colour, metric, matches: page.truth ? parsemark.matchesOf(data, view.rule) : parsemark.withoutTruth(data) };
  };

  // What the second contender made of a page; nothing where the older run does not have it.
  const besideData = async (page, beside) => {
    if (!isOlder(beside)) return page.parsers[besideNumber(beside)];
    if (!state.pages.older.samples.includes(page.id)) return NOTHING;
    return (await parsemark.load(`older/pages/${parsemark.pageFile(page.index)}`))[besideNumber(beside)];
  };

  const showDispute = (page, view) => {
    const elements = (page.truth?.elements ?? []).map((e) => ({ id: e.id, name: `${parsemark.elementName(page.truth, null, [e.id], [])} (${e.category.replaceAll("_", " ")})` }));
    byId("dispute").replaceChildren(...(page.truth ? [parsemark.renderDispute(state.pages.corpus, page, elements, view.table)] : []));
  };

  const showPage = async (page, view) => {
    showDispute(page, view);
    const first = contender(page, page.parsers[view.parser], state.pages.parsers[view.parser], view);
    const other = view.beside ? await besideData(page, view.beside) : null;
    showHead(page);
    byId("legend").className = `sheet-tools parser-${first.colour}`;
    byId("page-columns").classList.toggle("beside", Boolean(other));
    byId("beside-key").hidden = !other;
    if (other) {
      byId("beside-key").className = `check parser-${besideParser(view.beside).colour}`;
      showTwo(page, view, [first, contender(page, other, besideParser(view.beside), view, isOlder(view.beside) ? " (old)" : "")]);
    } else showOne(page, view, first);
  };

  const listName = (beside, protocol) => (isOlder(beside) ? `older/lists/${besideNumber(beside)}` : `lists/${protocol}/${besideNumber(beside)}`);

  // What can be chosen depends on the protocol: its rules, and its types of errors with how often they occur.
  const showChoices = (view, list) => {
    const { errors, rules } = state.pages.protocols[view.protocol];
    const queues = parsemark.queuesOf(errors);
    const option = ([key, q]) => el("option", { value: key, selected: key === view.queue }, q.label);
    const labelled = errors.map((e) => [`error-${e.name}`, { label: `${e.label} (${(list.errors[e.name] ?? []).length})` }]);
    byId("queue").replaceChildren(...Object.entries(queues).filter(([key, q]) => !key.startsWith("error-") && !q.hidden).map(option),
      ...(labelled.length ? [el("optgroup", { label: "Types of errors" }, labelled.map(option))] : []));
    byId("rule").replaceChildren(...rules.map((r) => el("option", { value: r, selected: r === view.rule }, r)));
    byId("rule").disabled = rules.length < 2;
    byId("protocol").value = String(view.protocol);
  };

  // What restricts the list, each with a button that takes it away.
  const showFilters = (view) => {
    byId("find").value = view.find;
    byId("failed").checked = view.failed;
    byId("from").value = view.from ?? "";
    byId("to").value = view.to ?? "";
    byId("filter").value = "";
    const restart = { page: null, table: null };
    byId("filters").replaceChildren(...view.filters.map((filter) => el("li", {}, el("button", { type: "button", "aria-label": `Remove ${filter}`,
      on: { click: () => link(view, { filters: view.filters.filter((other) => other !== filter), ...restart }) } }, parsemark.foreign(filter.replace("=", ": ")), " ×"))));
  };

  const show = async () => {
    state.turn += 1;
    const turn = state.turn;
    const view = fromHash();
    const choice = JSON.stringify([view.protocol, view.parser, view.beside, view.queue, view.filters, view.find, view.failed, view.from, view.to]);
    const listed = state.listed === choice;
    const [list, other, found] = await Promise.all([parsemark.load(`lists/${view.protocol}/${view.parser}`),
      view.beside ? parsemark.load(listName(view.beside, view.protocol)) : null, listed ? null : parsemark.search(view.find)]);
    if (turn !== state.turn) return;
    if (!listed) state.queue = parsemark.makeQueue(parsemark.queuesOf(state.pages.protocols[view.protocol].errors)[view.queue], state.pages, list, other, { ...view, found });
    state.listed = choice;
    let index = state.pages.id.indexOf(view.page ?? "");
    state.position = locate(view);
    if (index < 0) {
      const first = state.queue[0];
      index = first ? first.page : 0;
      view.page = state.pages.id[index];
      view.table = view.table ?? first?.table ?? null;
    }
    state.view = view;
    const unknown = unknownNames(parsemark.readHash());
    byId("unknown").hidden = !unknown.length;
    byId("unknown").replaceChildren("This report does not have ", ...unknown.flatMap((name, k) => [k ? ", " : "", parsemark.foreign(name)]), ", so something else is shown. It may be older than the run: parsemark report RUN makes it anew.");
    byId("parser").value = String(view.parser);
    byId("beside").value = view.beside;
    for (const option of byId("beside").options) option.disabled = option.value === String(view.parser);
    showChoices(view, list);
    showFilters(view);
    showPosition();
    showStrip();
    if (index === undefined || !state.pages.id.length) return;
    const page = await parsemark.load(`pages/${parsemark.pageFile(index)}`);
    if (turn !== state.turn) return;
    page.index = index;
    await showPage(page, view);
    if (turn !== state.turn) return;
    const beside = view.beside ? ` beside ${besideParser(view.beside).name}` : "";
    byId("status").textContent = `Showing ${page.id}, ${state.pages.parsers[view.parser].name}${beside}`;
    document.documentElement.dataset.ready = String(turn);
  };

  const fillControls = () => {
    byId("parser").replaceChildren(...state.pages.parsers.map((p, i) => el("option", { value: i }, p.name)));
    const choices = (parsers, before) => parsers.map((p, i) => el("option", { value: `${before}${i}` }, p.name + (before ? " (old)" : "")));
    byId("beside").replaceChildren(el("option", { value: "" }, "no other"), ...choices(state.pages.parsers, ""),
      ...(state.pages.older ? [el("optgroup", { label: state.pages.older.label }, choices(state.pages.older.parsers, "old-"))] : []));
    byId("protocol").replaceChildren(...state.pages.protocols.map((p, i) => el("option", { value: i }, p.title === state.pages.protocols.find((q) => q !== p)?.title ? p.spec : p.title)));
    byId("protocol").closest(".field").hidden = state.pages.protocols.length < 2;
    byId("filter").replaceChildren(el("option", { value: "" }, "add a filter"), ...Object.entries(state.pages.attributes).map(([name, column]) =>
      el("optgroup", { label: spaced(name) }, column.values.map((value) => el("option", { value: `${name}=${value}` }, `${spaced(name)}: ${value}`)))));
    const change = (key, read, changes = {}) => byId(key).addEventListener("change", (event) => link(state.view, { [key]: read(event.target.value), ...changes }));
    change("parser", Number, { table: null });
    change("beside", String);
    change("protocol", Number, { table: null, queue: "all", rule: null });
    change("queue", String, { page: null, table: null });
    const restrict = (changes) => link(state.view, { page: null, table: null, ...changes });
    byId("filter").addEventListener("change", ({ target }) => target.value && restrict({ filters: [...new Set([...state.view.filters, target.value])] }));
    byId("find").addEventListener("change", ({ target }) => restrict({ find: target.value.trim() }));
    byId("failed").addEventListener("change", ({ target }) => restrict({ failed: target.checked }));
    for (const key of ["from", "to"]) {
      byId(key).addEventListener("change", ({ target }) => restrict({ [key]: target.value === "" ? null : Number(target.value) }));
    }
    change("rule", String);
    byId("previous").addEventListener("click", () => goTo(state.position - 1));
    byId("next").addEventListener("click", () => goTo(state.position + 1));
    for (const name of ["truth", "pred", "other"]) {
      byId(`show-${name}`).addEventListener("change", (event) => byId("sheet").classList.toggle(`hide-${name}`, !event.target.checked));
    }
  };

  const stepByKey = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.target.closest?.(".grid-frame, pre")) return;
    if (event.key === "ArrowRight" || event.key === "j") goTo(state.position + 1);
    else if (event.key === "ArrowLeft" || event.key === "k") goTo(state.position - 1);
    else return;
    event.preventDefault();
  };

  const start = (pages) => {
    state.pages = pages;
    if (!pages.id.length || !pages.parsers.length) {
      byId("detail").replaceChildren(el("p", { class: "notice" }, "This run has no pages yet."));
      return;
    }
    fillControls();
    addEventListener("hashchange", show);
    addEventListener("keydown", stepByKey);
    show().catch((error) => parsemark.showError(byId("detail"), error));
  };
  parsemark.load("pages").then(start).catch((error) => parsemark.showError(byId("detail"), error));
})();
