// Building blocks for pages. Text goes in as text nodes alone: what a parser wrote is never read as markup.
"use strict";
window.parsemark = window.parsemark || {};
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SHOWN = new Set(["title", "aria-label", "alt"]);

  const fill = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") {
        for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
      } else if (name === "data") {
        for (const [key, item] of Object.entries(value)) node.dataset[key] = item;
      } else {
        node.setAttribute(name, value === true ? "" : SHOWN.has(name) ? parsemark.visible(String(value)) : String(value));
      }
    }
    const shown = children.flat(2).filter((child) => child !== null && child !== undefined && child !== false);
    node.append(...shown.map((child) => (typeof child === "string" ? parsemark.visible(child) : child)));
    return node;
  };

  // Parser output may hold characters that reorder the text around them; `bdi` keeps that inside.
  parsemark.el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  parsemark.svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  parsemark.foreign = (text, className) => parsemark.el("bdi", { class: className }, String(text));

  // Control characters and those that change the writing direction, made visible.
  const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
  parsemark.visible = (text) =>
    text.replace(INVISIBLE, (c) => `\u27e8U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);

  parsemark.counted = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

  // A number that is 0 in so many digits is not written −0.000.
  const withoutMinus = (text) => (Number(text) === 0 ? text.replace("-", "") : text);
  parsemark.number = (value, digits = 3) => (value === null || value === undefined ? "–" : withoutMinus(value.toFixed(digits)));
  parsemark.signed = (value, digits = 3) =>
    value === null || value === undefined ? "–" : Number(value.toFixed(digits)) === 0 ? Math.abs(value).toFixed(digits) : (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);

  parsemark.readHash = () => new URLSearchParams(location.hash.slice(1));
  parsemark.writeHash = (parameters, replace = false) => {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(parameters)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== null && one !== undefined && one !== "") query.append(key, one);
      }
    }
    const target = `#${query}`;
    if (replace) history.replaceState(null, "", target);
    else location.hash = target;
  };
})();
