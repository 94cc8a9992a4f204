// The annotation page: elements, their boxes, and the keys of the page.
"use strict";
(() => {
  const { el, annotated, tableEditor } = parsemark;
  const at = (id) => document.getElementById(id);
  const work = at("work");
  const PAUSE_MS = 3000;
  let chosen = null;
  let boxMode = false;
  let moving = null;
  let moved = null; // the element whose box is ahead of the server's answers
  let seen = [];

  const current = () => annotated.page.elements.find((e) => e.id === chosen) || null;
  const summary = (e) => (e.table ? `${e.table.n_rows} × ${e.table.n_cols}` : (e.latex || e.text || "").slice(0, 60));
  const doubts = (id) => (annotated.uncertain[id] || []).length;

  const listed = () => at("elements").querySelector('[aria-pressed="true"]');

  const drawList = () => {
    const focused = document.activeElement?.closest?.("#elements button")?.dataset.element;
    at("elements").replaceChildren(...annotated.ordered().map((e) => el("li", {},
      el("button", { type: "button", "aria-pressed": String(e.id === chosen), data: { element: e.id }, on: { click: () => open(e.id) } },
        el("strong", {}, e.category.replaceAll("_", " ")), " ", parsemark.foreign(summary(e), "muted"),
        doubts(e.id) ? el("span", { class: "doubt-count" }, `${doubts(e.id)} uncertain`) : null))));
    at("settle").hidden = !annotated.page.elements.some((e) => doubts(e.id));
    // The list is redrawn with every change; the focus stays where it is.
    if (focused) [...at("elements").querySelectorAll("button")].find((node) => node.dataset.element === focused)?.focus();
    at("scope").hidden = annotated.page.elements.some((e) => !e.table);
  };

  const drawBoxes = () => {
    const { width, height } = annotated.page;
    at("boxes").replaceChildren(...annotated.page.elements.filter((e) => e.box).map((e) => {
      const [x0, y0, x1, y1] = e.box;
      const node = el("button", { type: "button", tabindex: "-1", class: `place-box ${e.table ? "is-table" : ""} ${e.id === chosen ? "is-chosen" : ""}`, "aria-label": `${e.category} ${e.id}`, on: { click: () => open(e.id) } });
      Object.assign(node.style, { left: `${100 * x0 / width}%`, top: `${100 * y0 / height}%`, width: `${100 * (x1 - x0) / width}%`, height: `${100 * (y1 - y0) / height}%` });
      return node;
    }));
  };

  const drawFormula = async (place, latex) => {
    const { mathml } = await parsemark.send("/api/math", { latex });
    if (!mathml) return place.replaceChildren(el("span", { class: "muted" }, "This cannot be drawn."));
    return place.replaceChildren(parsemark.mathNode(mathml));
  };

  const drawText = (element) => {
    const box = el("textarea", { class: "block-input", rows: "6", id: "block", "aria-label": element.category, spellcheck: "false", data: { element: element.id, category: element.category } });
    box.value = element.latex ?? element.text ?? "";
    const preview = el("div", { class: "formula", "aria-live": "polite" });
    let timer = 0;
    const refresh = () => {
      clearTimeout(timer);
      timer = setTimeout(() => drawFormula(preview, box.value), 150);
    };
    const isFormula = element.category === "equation_isolated";
    let [typing, last] = [parsemark.nonce(), 0];
    box.addEventListener("input", () => {
      if (Date.now() - last > PAUSE_MS) typing = parsemark.nonce(); // one undo takes back what was written in one go
      last = Date.now();
      annotated.edit({ do: "content", element: element.id, text: box.value, typing }, typing);
      if (isFormula) refresh();
    });
    box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") listed()?.focus();
      event.stopPropagation();
    });
    const select = el("select", { id: "category", "aria-label": "Category", on: { change: (event) => annotated.edit({ do: "category", element: element.id, category: event.target.value }) } });
    select.append(at("categories").content.cloneNode(true));
    select.value = element.category;
    at("editor").replaceChildren(el("div", { class: "text-editor" }, select, box, isFormula ? preview : null));
    if (isFormula) refresh();
  };

  const drawEditor = (focus) => {
    const element = current();
    const written = at("block");
    const isWriting = written && document.activeElement === written && written.dataset.element === chosen;
    at("element-tools").hidden = !element;
    if (isWriting && element && written.dataset.category === element.category) {
      at("category").value = element.category; // a change of it may have been refused
      return; // the person is writing here
    }
    if (!element) {
      tableEditor.leave();
      at("table-tools").hidden = true;
      return at("editor").replaceChildren(el("p", { class: "muted" }, annotated.page.elements.length ? "Choose an element." : "Nothing on this page yet. Add a table. If the page has none, choose “Page is right”."));
    }
    at("table-tools").hidden = !element.table;
    if (element.table) return tableEditor.draw(at("editor"), element.id, element.table, focus);
    tableEditor.leave();
    drawText(element);
    if (isWriting) at("block").focus();
  };

  // Attributes as lines, and what a caption or note belongs to. What somebody is writing is not drawn over.
  const linesOf = (attributes) => Object.entries(attributes || {}).map(([name, value]) => `${name}: ${value}`).join("\n");
  const drawMore = () => {
    const element = current();
    const { elements, relations, attributes } = annotated.page;
    at("belonging").hidden = at("own-attributes").hidden = !element;
    for (const [id, value] of [["element-attributes", linesOf(element?.attributes)], ["page-attributes", linesOf(attributes)]]) {
      if (document.activeElement !== at(id)) at(id).value = value;
    }
    if (!element) return;
    at("belongs").replaceChildren(el("option", { value: "" }, "nothing"), ...elements.filter((e) => e.id !== element.id).map((e) => el("option", { value: e.id }, `${e.id} (${e.category.replaceAll("_", " ")})`)));
    at("belongs").value = (relations.find(([kind, , target]) => kind === "parent_son" && target === element.id) || [])[1] ?? "";
  };
  at("belongs").addEventListener("change", (event) => annotated.edit({ do: "belongs", element: chosen, to: event.target.value || null }));
  at("element-attributes").addEventListener("change", (event) => annotated.edit({ do: "attributes", element: chosen, text: event.target.value }));
  at("page-attributes").addEventListener("change", (event) => annotated.edit({ do: "attributes", element: null, text: event.target.value }));
  at("more").addEventListener("keydown", (event) => event.altKey || event.stopPropagation());

  // What each parser has found, to be taken as it is: in place of the chosen table, or where there is none.
  const drawOffers = () => {
    const { offers } = annotated;
    at("offers").hidden = !offers.length;
    const select = at("offer");
    if (select.options.length === offers.length + 1) return;
    select.replaceChildren(el("option", { value: "" }, "Take a parser’s table …"), ...offers.map((o, k) => el("option", { value: String(k) }, `${o.parser}: ${o.rows} × ${o.cols}`)));
  };

  const drawCheck = () => {
    const found = annotated.differences;
    const rows = (found || []).map((d) => el("li", {}, `${d.element} ${d.what}: `, el("del", {}, parsemark.foreign(d.before)), " → ", el("ins", {}, parsemark.foreign(d.after))));
    at("check").replaceChildren(...(found === null ? [] : [el("h2", {}, found.length ? `The check changed ${found.length}` : "The check changed nothing"), el("ul", { class: "check-list" }, rows)]));
  };

  const draw = (focus) => {
    if (chosen === null || !current()) chosen = (annotated.ordered().find((e) => e.table) || annotated.ordered()[0] || {}).id ?? null;
    drawList();
    drawBoxes();
    drawOffers();
    drawEditor(focus);
    drawMore();
    drawCheck();
    const isSettled = annotated.accepted.length > 0 && !annotated.changed;
    at("withdraw").hidden = !annotated.accepted.length;
    at("accept").hidden = isSettled && annotated.accepted.includes(work.dataset.person);
  };

  const setBoxMode = (on) => {
    boxMode = on;
    moving = parsemark.nonce();
    work.classList.toggle("box-mode", on);
  };

  // An element is chosen to look at it: its keys work, and nothing is written into it. To write, it is opened.
  const choose = (id) => {
    chosen = id;
    setBoxMode(false);
    draw(true);
    if (current() && !current().table) listed()?.focus();
    at("boxes").querySelector(".is-chosen")?.scrollIntoView({ block: "nearest" });
  };

  const open = (id) => {
    choose(id);
    at("block")?.focus();
  };

  // The most doubtful cell that was not looked at yet, in any table of the page.
  const nextDoubt = () => {
    const all = annotated.page.elements.flatMap((e) => (annotated.uncertain[e.id] || []).filter(([r, c]) => e.table && r < e.table.n_rows && c < e.table.n_cols).map(([r, c, share]) => ({ id: e.id, r, c, share })));
    all.sort((a, b) => a.share - b.share);
    const key = (d) => `${d.id} ${d.r} ${d.c}`;
    let next = all.find((d) => !seen.includes(key(d)));
    if (!next) [next, seen] = [all[0], []];
    if (!next) return;
    seen.push(key(next));
    if (next.id !== chosen) choose(next.id);
    tableEditor.goTo(next.r, next.c);
  };

  const cycle = (by) => {
    const all = annotated.ordered();
    if (!all.length) return;
    const here = all.findIndex((e) => e.id === chosen);
    choose(all[(here + by + all.length) % all.length].id);
  };

  const moveBox = (event) => {
    const element = current();
    const delta = { ArrowLeft: [-2, 0], ArrowRight: [2, 0], ArrowUp: [0, -2], ArrowDown: [0, 2] }[event.key];
    if (!delta || !element) return false;
    const { width, height } = annotated.page;
    const between = (value, low, high) => Math.min(high, Math.max(low, value));
    const inside = ([x0, y0, x1, y1]) => [between(x0, 0, width), between(y0, 0, height), between(x1, 0, width), between(y1, 0, height)];
    let [x0, y0, x1, y1] = inside(element.box || [72, 72, 288, 144]);
    if (x0 === x1 || y0 === y1) [x0, y0, x1, y1] = [0, 0, width / 2, height / 4];
    // A box is moved as a whole, and ends at the edges of the page.
    const [dx, dy] = event.shiftKey ? delta : [between(delta[0], -x0, width - x1), between(delta[1], -y0, height - y1)];
    const box = event.shiftKey ? [x0, y0, between(x1 + dx, x0 + 2, width), between(y1 + dy, y0 + 2, height)] : [x0 + dx, y0 + dy, x1 + dx, y1 + dy];
    element.box = box;
    moved = element;
    annotated.edit({ do: "box", element: element.id, box, typing: moving }, moving);
    drawBoxes();
    return true;
  };

  const add = (category) => async () => {
    const before = new Set(annotated.page.elements.map((e) => e.id));
    await annotated.edit({ do: "add", category });
    const added = annotated.page.elements.find((e) => !before.has(e.id));
    if (added) open(added.id);
  };

  // Ask for a name when it is needed: every acceptance has an author.
  const accept = () => {
    if (work.dataset.person) return annotated.accept();
    at("ask").showModal();
    return at("ask-name").focus();
  };
  at("ask-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = at("ask-name").value.trim();
    try {
      await parsemark.send("/api/person", { name });
      work.dataset.person = name;
      at("ask").close();
      await annotated.accept();
    } catch (error) {
      at("ask").close();
      parsemark.say(at("message"), error.message);
    }
  });
  at("ask-cancel").addEventListener("click", () => at("ask").close());

  // The picture: larger, smaller, turned. Boxes lie on it and turn with it.
  const view = { zoom: 1, turn: 0 };
  const drawView = () => {
    const { width, height } = annotated.page;
    const full = at("frame").clientWidth * view.zoom;
    const lies = view.turn % 180 !== 0;
    const [wide, high] = lies ? [full * width / height, full] : [full, full * height / width];
    Object.assign(at("sheet").style, { width: `${wide}px`, transformOrigin: "0 0", transform: { 0: "", 90: `translateX(${high}px) rotate(90deg)`, 180: `translate(${wide}px, ${high}px) rotate(180deg)`, 270: `translateY(${wide}px) rotate(270deg)` }[view.turn] });
    Object.assign(at("turner").style, { width: `${lies ? high : wide}px`, height: `${lies ? wide : high}px` });
  };
  const zoom = (by) => () => { view.zoom = Math.min(6, Math.max(1, view.zoom * by)); drawView(); };
  window.addEventListener("resize", () => annotated.page && drawView());

  const remove = () => chosen && annotated.edit({ do: "remove", element: chosen });
  const COMMANDS = {
    undo: () => annotated.undo(), doubt: nextDoubt, table: add("table"), text: add("text_block"), formula: add("equation_isolated"), accept, withdraw: () => annotated.withdraw(),
    help: () => { at("help").hidden = !at("help").hidden; }, next: () => location.assign(at("following").href), before: () => cycle(-1), after: () => cycle(1),
    earlier: () => annotated.edit({ do: "move", element: chosen, by: -1 }), later: () => annotated.edit({ do: "move", element: chosen, by: 1 }),
    remove, "no-table": () => annotated.edit({ do: "no_table" }), box: () => setBoxMode(!boxMode), "zoom-in": zoom(1.4), "zoom-out": zoom(1 / 1.4),
    turn: () => { view.turn = (view.turn + 90) % 360; drawView(); },
  };
  const run = (what) => {
    if (tableEditor.has(what)) {
      if (current()?.table) tableEditor.command(what);
    } else COMMANDS[what]();
  };
  // With Alt, by the place of the key: some systems make other letters of it. [without Shift, with Shift]
  const KEYS = {
    KeyM: ["merge", "split"], KeyI: ["row-below", "row-above"], KeyO: ["column-right", "column-left"], KeyX: ["delete-row", "delete-column"],
    KeyH: ["header", "header-rows"], KeyR: ["transpose", "turn"], KeyN: ["doubt", "doubt"], KeyT: ["table", "table"], KeyE: ["text", "text"], KeyF: ["formula", "formula"],
    KeyA: ["accept", "withdraw"], KeyG: ["next", "next"], KeyB: ["box", "box"], Digit0: ["no-table", "no-table"], Delete: ["remove", "remove"], Slash: ["help", "help"],
    ArrowUp: ["before", "earlier"], ArrowDown: ["after", "later"], Equal: ["zoom-in", "zoom-in"], Minus: ["zoom-out", "zoom-out"],
  };

  document.addEventListener("keydown", (event) => {
    if (!annotated.page || at("ask").open) return;
    const isWriting = event.target.closest("textarea, input, select");
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    const isAlt = event.altKey && !event.ctrlKey && !event.metaKey && KEYS[event.code];
    if (isUndo && !isWriting) COMMANDS.undo();
    else if (isAlt) run(KEYS[event.code][event.shiftKey ? 1 : 0]);
    else if (isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
    else if (boxMode && event.key === "Escape") setBoxMode(false);
    else if (boxMode && moveBox(event)) event.stopPropagation();
    else if (event.key === "Enter" && event.target.closest("#elements button")) event.target.click();
    else if (event.key === "Enter" && event.target === document.body && current()) open(chosen);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("mousedown", (event) => { if (tableEditor.has(button.dataset.do)) event.preventDefault(); }); // the cell stays chosen
    button.addEventListener("click", () => run(button.dataset.do));
  }
  at("offer").addEventListener("change", async (event) => {
    const offer = annotated.offers[Number(event.target.value)];
    event.target.value = "";
    if (!offer) return;
    const before = new Set(annotated.page.elements.map((e) => e.id));
    await annotated.edit({ do: "take", element: current()?.table ? chosen : null, parser: offer.parser, index: offer.index });
    const added = annotated.page.elements.find((e) => !before.has(e.id));
    if (added) choose(added.id);
  });

  // Who is writing into a page that has changed leaves it: further keys must not write over what is new.
  annotated.onOutdated = () => {
    tableEditor.drop();
    at("message").tabIndex = -1;
    at("message").focus();
  };
  annotated.onChange = (isMoreWaiting) => {
    // An answer to an earlier key must not take later ones back.
    const element = isMoreWaiting && moved && annotated.page.elements.find((e) => e.id === moved.id);
    moved = element ? Object.assign(element, { box: moved.box }) : null;
    draw(document.activeElement?.closest?.(".editing") !== null);
  };
  annotated.load().then(() => { draw(true); drawView(); }, (error) => parsemark.say(at("message"), error.message));
})();
