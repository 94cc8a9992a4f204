// A report in one file: shows the page that the address names (`?p=viewer#…`). Pages wait as templates; data,
// pictures and scripts as text that the browser does not run. The scripts' hashes stand in the page's policy.
"use strict";
(() => {
  window.parsemark = window.parsemark || {};
  const files = new Map([...document.head.querySelectorAll("script[data-file]")].map((node) => [node.dataset.file, node]));
  parsemark.files = files;
  const named = new URLSearchParams(location.search).get("p") ?? "index";
  const templates = [...document.head.querySelectorAll("template[data-page]")];
  const template = templates.find((t) => t.dataset.page === named) ?? templates.find((t) => t.dataset.page === "index");
  const note = document.querySelector(".file-note");

  const uri = (name, type) => (files.has(name) ? `data:${type};base64,${files.get(name).textContent}` : null);
  const content = template.content.cloneNode(true);
  for (const picture of content.querySelectorAll("img[src], image[href]")) {
    const key = picture.localName === "img" ? "src" : "href";
    const address = uri(picture.getAttribute(key), "image/jpeg");
    if (address) picture.setAttribute(key, address);
    else picture.removeAttribute(key);
  }
  for (const link of content.querySelectorAll("a[download]")) {
    const name = link.getAttribute("href");
    link.download = name.split("/").at(-1);
    link.href = uri(name, "text/plain") ?? "#";
  }

  // Links to other pages of the report lead to other views of this file.
  const PAGE = /^([\w-]+)\.html(#.*)?$/;
  const redirect = (link) => {
    const to = PAGE.exec(link.getAttribute("href") ?? "");
    if (to) link.setAttribute("href", `?p=${to[1]}${to[2] ?? ""}`);
  };
  content.querySelectorAll("a[href]").forEach(redirect);
  for (const event of ["pointerdown", "focusin", "click"]) {
    document.addEventListener(event, ({ target }) => {
      const link = target.closest?.("a[href]");
      if (link) redirect(link);
    }, true);
  }

  const run = (name) => {
    const script = document.createElement("script");
    script.textContent = files.get(`assets/${name}`).textContent;
    document.head.append(script);
    script.remove();
  };

  const { title, charts, scripts } = template.dataset;
  document.title = title;
  document.body.className = template.dataset.class;
  document.body.dataset.charts = charts;
  run("js/theme.js");
  document.body.replaceChildren(content);
  note.hidden = false;
  document.querySelector(".site-footer").append(note);
  scripts.split(" ").filter(Boolean).forEach(run);
})();
