// "This truth is wrong": entries are kept in this browser and taken along as a file that `parsemark corpus
// check --disputes` and `parsemark annotate --disputes` read.
"use strict";
(() => {
  const { el } = parsemark;
  const MOST = 2000;
  let entries = null;
  let key = "";

  const remembered = () => {
    try {
      const found = JSON.parse(localStorage.getItem(key) ?? "[]");
      return Array.isArray(found) ? found : [];
    } catch {
      return []; // refused, or damaged
    }
  };
  const remember = () => {
    try {
      localStorage.setItem(key, JSON.stringify(entries));
    } catch {
      // They are then kept until the page is left.
    }
  };

  // The form for one page; `elements` are {id, name} of its truth, `chosen` is the id that is looked at.
  parsemark.renderDispute = (corpus, page, elements, chosen) => {
    if (key !== `parsemark-disputes-${corpus.hash}`) {
      key = `parsemark-disputes-${corpus.hash}`;
      entries = remembered();
    }
    const element = el("select", {}, el("option", { value: "" }, "whole page"), elements.map(({ id, name }) => el("option", { value: id, selected: id === chosen }, name)));
    const what = el("input", { type: "text", maxlength: MOST, placeholder: "what is wrong" });
    const list = el("div", {});
    const show = () => {
      const own = entries.filter((entry) => entry.sample === page.id);
      const remove = (entry) => el("button", { type: "button", "aria-label": `Remove: ${entry.what}`, on: { click: () => { entries = entries.filter((e) => e !== entry); remember(); show(); } } }, "×");
      list.replaceChildren(el("ul", {}, own.map((entry) => el("li", {}, parsemark.foreign(`${entry.element || "whole page"}: ${entry.what || "wrong"}`), " ", remove(entry)))),
        entries.length ? el("button", { type: "button", on: { click: save } }, `Save ${parsemark.counted(entries.length, "entry").replace("entrys", "entries")} as disputes.json`) : "");
    };
    const save = () => {
      const file = { corpus: corpus.name, hash: corpus.hash, disputes: entries };
      parsemark.download("disputes.json", "application/json", `${JSON.stringify(file, null, 2)}\n`);
    };
    const add = () => {
      entries = [...entries, { sample: page.id, element: element.value, what: what.value.trim() }];
      what.value = "";
      remember();
      show();
    };
    show();
    return el("details", { class: "dispute" }, el("summary", {}, "This truth is wrong"),
      el("div", { class: "viewer-bar" }, el("label", { class: "field" }, "Element ", element), el("label", { class: "field" }, "What is wrong? ", what),
        el("button", { type: "button", on: { click: add } }, "Add")), list,
      corpus.issues ? el("p", {}, el("a", { href: corpus.issues, rel: "noreferrer" }, `Report it to ${corpus.name}`)) : "");
  };
})();
