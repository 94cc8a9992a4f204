// The legend switches series on and off; the tooltip says what is under the pointer or in focus.
"use strict";
(() => {
  const { el } = parsemark;

  parsemark.chartLegend = (chart, colours, plot) => {
    const names = [...new Set(chart.series.map((s) => s.parser ?? s.name))];
    if (names.length < 2) return null;
    const item = (name) => {
      const colour = colours[name];
      const button = el("button", { type: "button", "aria-pressed": "true" },
        el("span", { class: `swatch ${colour === undefined ? "" : `parser-${colour}`}` }), parsemark.foreign(name));
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        for (const group of plot.querySelectorAll("[data-series]")) {
          if (group.dataset.series === name) group.classList.toggle("series-off", !on);
        }
      });
      return el("li", {}, button);
    };
    return el("ul", { class: "legend", "aria-label": "Shown series" }, names.map(item));
  };

  parsemark.attachTooltip = (plot) => {
    const tip = el("div", { class: "tooltip", hidden: true, role: "status" });
    plot.append(tip);
    const show = (event) => {
      const mark = event.target.pointText ? event.target : event.target.firstChild;
      if (!mark || !mark.pointText) {
        tip.hidden = true;
        return;
      }
      tip.textContent = mark.pointText;
      tip.hidden = false;
      const frame = plot.getBoundingClientRect();
      const spot = mark.getBoundingClientRect();
      const left = Math.min(spot.left - frame.left + spot.width + 6, frame.width - tip.offsetWidth);
      tip.style.left = `${Math.max(0, left)}px`;
      tip.style.top = `${Math.max(0, spot.top - frame.top - tip.offsetHeight - 6)}px`;
    };
    plot.addEventListener("pointerover", show);
    plot.addEventListener("focusin", show);
    plot.addEventListener("pointerleave", () => { tip.hidden = true; });
    plot.addEventListener("focusout", () => { tip.hidden = true; });
  };
})();
