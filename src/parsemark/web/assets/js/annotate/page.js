// The page as the server has it, and the queue of edits on their way there. The server's word is what is shown.
"use strict";
(() => {
  const work = document.getElementById("work");
  const base = `/api/page/${encodeURIComponent(work.dataset.sample)}`;
  const status = document.getElementById("status");
  const message = document.getElementById("message");
  const queue = [];
  let running = null; // the promise of an empty queue, while there is one
  let isOutdated = false; // another tab has changed the page, and what is shown is older: nothing is sent from it

  const state = { page: null, revision: 0, uncertain: {}, support: {}, accepted: [], differences: null, onChange: () => {}, onOutdated: () => {} };

  const take = (data) => {
    Object.assign(state, {
      page: data.page, revision: data.revision, uncertain: data.uncertain, support: data.support,
      accepted: data.accepted, changed: data.changed, hasTruth: data.has_truth, differences: data.differences, canUndo: data.can_undo, offers: data.offers,
    });
    state.onChange(queue.length > 0);
  };

  const say = () => {
    const since = state.changed ? "; edited since, but the accepted version is the truth" : "";
    const who = state.accepted.length ? ` · accepted by ${state.accepted.join(", ")}${since}` : state.hasTruth ? " · not accepted; until then, its files are the truth" : " · not accepted, so no truth yet";
    status.textContent = (queue.length || running ? "Saving …" : "Saved") + who;
  };

  const trouble = (why) => parsemark.say(message, why);

  const drain = async () => {
    while (queue.length) {
      const sent = queue[0];
      sent.onItsWay = true;
      try {
        const data = await parsemark.send(`${base}${sent.path}`, sent.body(), trouble);
        queue.shift();
        trouble(null);
        take(data);
      } catch (error) {
        queue.length = 0;
        trouble(error.message);
        isOutdated = error.status === 409;
        if (isOutdated) state.onOutdated();
        take(await parsemark.keepAsking(base));
        isOutdated = false;
      }
      say();
    }
  };
  const run = () => {
    running ??= drain().finally(() => {
      running = null;
      say();
    });
    return running;
  };

  // A further keystroke in the same cell takes the place of one that is still waiting.
  state.edit = (edit, key = null) => {
    if (isOutdated) return running;
    const waiting = queue.findIndex((entry) => key && entry.key === key && !entry.onItsWay);
    const entry = { path: "/edit", key, body: () => ({ edit, nonce: entry.nonce, revision: state.revision }), nonce: parsemark.nonce() };
    if (waiting >= 0) queue[waiting] = entry;
    else queue.push(entry);
    say();
    return run();
  };
  const plain = (path) => () => {
    if (isOutdated) return running;
    queue.push({ path, key: null, body: () => ({ revision: state.revision }) });
    return run();
  };
  state.undo = plain("/undo");
  state.accept = plain("/accept");
  state.withdraw = plain("/withdraw");
  state.load = async () => {
    take(await parsemark.get(base));
    say();
  };
  state.idle = () => !running && !queue.length;
  state.ordered = () => [...state.page.elements].sort((a, b) => (a.order ?? 1e9) - (b.order ?? 1e9));
  parsemark.annotated = state;
  window.addEventListener("beforeunload", (event) => {
    if (!state.idle()) event.preventDefault();
  });
})();
