// The rating page: two tables, a score, and nothing that tells who extracted.
"use strict";
(() => {
  const { el } = parsemark;
  const at = (id) => document.getElementById(id);
  const state = { item: null, last: null, chosen: null, raw: false, marks: false, picture: false, begin: 0, busy: false };

  const side = (place, data, label) => {
    const raw = el("pre", { class: "raw", tabindex: "0" }, parsemark.visible(data.raw));
    const drawn = data.mathml ? [el("div", { class: "formula", "aria-label": label, role: "group" }, parsemark.mathNode(data.mathml))] : data.tables.map((table) => parsemark.renderTable(table, label));
    place.replaceChildren(...(state.raw || !drawn.length ? [raw] : drawn));
  };

  const press = (id, on) => at(id).setAttribute("aria-pressed", String(on));

  const choose = (score) => {
    state.chosen = score;
    for (const button of at("scores").children) {
      const here = Number(button.dataset.score) === score;
      button.setAttribute("aria-checked", String(here));
      button.tabIndex = here || (score === null && button.dataset.score === "0") ? 0 : -1;
    }
    at("save").disabled = score === null || state.busy;
  };

  const drawMarks = () => {
    const { truth, pred } = state.item;
    const place = at("marks");
    place.hidden = !state.marks;
    if (!state.marks) return place.replaceChildren();
    const node = truth.tables.length && pred.tables.length
      ? parsemark.renderDiff(parsemark.diffTables(truth.tables[0], pred.tables[0]))
      : el("p", { class: "notice" }, "One of the two has no table to compare cell by cell.");
    return place.replaceChildren(el("h2", {}, "Differences"), node);
  };

  const drawPicture = () => {
    const shown = state.picture && state.item.picture;
    at("picture").hidden = !shown;
    if (!shown) return;
    at("picture-image").src = `/picture/${state.item.place}`;
    const region = at("picture-region");
    region.hidden = !state.item.region;
    if (state.item.region) {
      const [x0, y0, x1, y1] = state.item.region.map((part) => 100 * part);
      Object.assign(region.style, { left: `${x0}%`, top: `${y0}%`, width: `${x1 - x0}%`, height: `${y1 - y0}%` });
    }
  };

  const draw = () => {
    at("work").hidden = !state.item;
    at("rating").classList.toggle("only-back", !state.item);
    at("done").hidden = Boolean(state.item);
    at("undo").disabled = state.last === null;
    press("show-raw", state.raw);
    press("show-marks", state.marks);
    press("show-picture", state.picture);
    if (!state.item) return;
    at("show-picture").hidden = !state.item.picture;
    side(at("truth"), state.item.truth, "Original");
    side(at("pred"), state.item.pred, "Extraction");
    drawMarks();
    drawPicture();
  };

  const take = (data) => {
    state.item = data.item;
    state.last = data.last;
    state.marks = Boolean(data.item && data.item.marked && data.item.score !== null);
    state.begin = performance.now();
    at("progress").max = data.progress.all;
    at("progress").value = data.progress.done;
    at("count").textContent = `${data.progress.done} of ${data.progress.all}`;
    at("comment").value = data.item ? data.item.comment : "";
    choose(data.item ? data.item.score : null);
    draw();
    window.scrollTo({ top: 0 });
  };

  // The bar stays in view however far down the page is, so what it says is never older than what is known.
  const tell = (text, isTrouble = false) => {
    at("saved").textContent = text;
    at("saved").classList.toggle("is-trouble", isTrouble);
  };

  const trouble = (why) => {
    parsemark.say(at("message"), why);
    if (why) tell(why, true);
    else if (at("saved").classList.contains("is-trouble")) tell("");
  };

  const guarded = async (work) => {
    if (state.busy) return;
    state.busy = true;
    at("save").disabled = true;
    try {
      await work();
      trouble(null);
    } catch (error) {
      trouble(error.message);
    } finally {
      state.busy = false;
      at("save").disabled = state.chosen === null;
    }
  };

  const answer = (score) => parsemark.send("/api/answer", {
    place: state.item.place,
    score,
    comment: at("comment").value,
    seconds: (performance.now() - state.begin) / 1000,
    nonce: parsemark.nonce(),
  }, trouble);

  const save = () => guarded(async () => {
    if (!state.item) return;
    if (state.chosen === null) return tell("Choose a score first.");
    const score = state.chosen;
    tell("Saving …");
    take(await answer(score));
    tell(`Saved: ${score}.`);
    document.activeElement.blur();
  });

  const back = () => guarded(async () => {
    if (state.last === null) return;
    take(await parsemark.get(`/api/item?place=${state.last}`));
    tell("This is the previous pair. Save again to change its score.");
  });

  const toggleMarks = () => guarded(async () => {
    if (!state.item) return;
    // It is kept that differences were shown before they are.
    if (!state.marks) await parsemark.send("/api/mark", { place: state.item.place }, trouble);
    state.marks = !state.marks;
    draw();
    if (state.marks) at("marks").scrollIntoView({ block: "nearest" });
  });

  // What was just opened lies below the tables; the table on the page is brought into view.
  const toggle = (name) => () => {
    state[name] = !state[name];
    draw();
    if (name === "picture" && state.picture && state.item && state.item.picture) {
      const image = at("picture-image");
      const show = () => {
        const frame = image.closest(".picture-frame");
        frame.scrollTop = Math.max(0, (state.item.region ? state.item.region[1] : 0) * image.clientHeight - 24);
        at("picture").scrollIntoView({ block: "nearest" });
      };
      if (image.complete) show();
      else image.addEventListener("load", show, { once: true });
    }
  };
  const toggleHelp = () => {
    at("help").hidden = !at("help").hidden;
    press("show-help", !at("help").hidden);
  };

  const digit = (key) => {
    const value = Number(key);
    choose(state.chosen === 1 && value === 0 ? 10 : value);
  };

  const KEYS = { r: toggle("raw"), d: toggleMarks, p: toggle("picture"), u: back, "?": toggleHelp, Enter: save };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const writing = event.target === at("comment");
    if (writing) {
      if (event.key === "Escape") at("comment").blur();
      return;
    }
    if (event.key === "Enter" && event.target.closest("button:not([role=radio]), a")) return;
    if (/^[0-9]$/.test(event.key) && state.item) digit(event.key);
    else if (event.key === "c") at("comment").focus();
    else if (["ArrowRight", "ArrowLeft"].includes(event.key) && event.target.closest("#scores")) {
      const next = Math.min(10, Math.max(0, (state.chosen ?? 0) + (event.key === "ArrowRight" ? 1 : -1)));
      choose(next);
      at("scores").children[next].focus();
    } else if (KEYS[event.key]) KEYS[event.key]();
    else return;
    event.preventDefault();
  });

  at("scores").addEventListener("click", (event) => {
    const button = event.target.closest("[data-score]");
    if (button) choose(Number(button.dataset.score));
  });
  at("rating").addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  at("undo").addEventListener("click", back);
  at("show-raw").addEventListener("click", toggle("raw"));
  at("show-marks").addEventListener("click", toggleMarks);
  at("show-picture").addEventListener("click", toggle("picture"));
  at("show-help").addEventListener("click", toggleHelp);
  parsemark.get("/api/item").then(take, (error) => trouble(error.message));
})();
