// The colour theme: automatic, light or dark. Loaded in the head, so that the page never flashes.
"use strict";
(() => {
  const KEY = "parsemark-theme";
  const ORDER = ["automatic", "light", "dark"];

  // Storage is refused in private windows and, in some browsers, on pages opened from disk.
  const remembered = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  };
  const remember = (theme) => {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice then holds for this page only.
    }
  };

  const apply = (theme) => {
    if (theme === "automatic") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };

  document.documentElement.classList.add("scripted");
  let current = ORDER.includes(remembered()) ? remembered() : "automatic";
  apply(current);

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme-toggle");
    const label = () => {
      button.setAttribute("aria-label", `Colour theme: ${current}`);
      button.title = `Colour theme: ${current}`;
    };
    label();
    button.addEventListener("click", () => {
      current = ORDER[(ORDER.indexOf(current) + 1) % ORDER.length];
      apply(current);
      remember(current);
      label();
    });
  });
})();
