// Draws each chart of the page when it comes near the window.
"use strict";
(() => {
  const places = [...document.querySelectorAll("[data-chart]")];

  // On a phone only the first group of charts is open, and that to which a link leads; in print all are.
  const groups = [...document.querySelectorAll("details.fold:has([data-chart])")];
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details.fold");
    if (target) target.open = true;
  };
  if (matchMedia("(max-width: 44rem)").matches) for (const group of groups.slice(1)) group.open = false;
  open();
  addEventListener("hashchange", open);

  const start = (data) => {
    const draw = (place) => {
      if (!place.firstChild) place.append(parsemark.chartFigure(data.charts[place.dataset.chart], data.colours));
    };
    const watcher = new IntersectionObserver((seen) => {
      for (const entry of seen) {
        if (entry.isIntersecting) {
          draw(entry.target);
          watcher.unobserve(entry.target);
        }
      }
    }, { rootMargin: "800px" });
    places.forEach((place) => watcher.observe(place));
    addEventListener("beforeprint", () => places.forEach(draw));
    document.documentElement.dataset.ready = "";
  };

  parsemark.load(document.body.dataset.charts || "charts").then(start, (error) => parsemark.showError(places[0] ?? document.getElementById("main"), error));
})();
