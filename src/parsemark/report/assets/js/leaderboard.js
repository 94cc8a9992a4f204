// The answer: one leaderboard for each protocol, with sorting, slices by attribute, columns and downloads. The
// tables themselves come with the page.
"use strict";
(() => {
  const { el, svg } = parsemark;

  // Wires one leaderboard and returns what shows it.
  const leaderboard = (part, isFirst) => {
    const byId = (name) => document.getElementById(name + part.dataset.ending);
    const table = byId("board");
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const status = byId("board-status");
    const byDefault = { sort: table.dataset.headline, order: table.dataset.better === "higher" ? "descending" : "ascending" };
    const state = { slice: "", ...byDefault };

    const sortValue = (row, key) => {
      if (key === "name") return row.cells[0].textContent.trim().toLowerCase();
      const cell = key === "rank" ? row.cells[1] : row.querySelector(`td[data-key="${key}"]`);
      return !cell || cell.dataset.value === "" ? null : Number(cell.dataset.value);
    };

    // What has no value comes last in either direction.
    const compare = (a, b, sign) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (a < b ? -1 : a > b ? 1 : 0);
    };

    const sort = () => {
      const sign = state.order === "ascending" ? 1 : -1;
      const rows = [...body.rows].map((row) => [sortValue(row, state.sort), row]);
      rows.sort((a, b) => compare(a[0], b[0], sign));
      body.append(...rows.map(([, row]) => row));
      for (const head of heads) {
        if (head.dataset.key === state.sort) head.setAttribute("aria-sort", state.order);
        else head.removeAttribute("aria-sort");
      }
    };

    const remember = () => parsemark.writeHash({
      protocol: isFirst ? "" : part.dataset.protocol,
      slice: state.slice,
      sort: state.sort === byDefault.sort && state.order === byDefault.order ? "" : state.sort,
      order: state.sort === byDefault.sort && state.order === byDefault.order ? "" : state.order,
    }, true);

    const sortBy = (head) => {
      const key = head.dataset.key;
      const best = head.dataset.better === "higher" ? "descending" : "ascending";
      const other = best === "descending" ? "ascending" : "descending";
      state.order = state.sort === key && state.order === best ? other : best;
      state.sort = key;
      sort();
      remember();
      status.textContent = `Sorted by ${head.textContent.replace("?", "").trim()}, ${state.order}`;
    };
    for (const head of heads) head.querySelector(".sort").addEventListener("click", () => sortBy(head));

    const intervalBar = (cell) => svg("svg", { class: "interval", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("line", { class: "track", x1: 0, x2: 100, y1: 4, y2: 4 }),
      svg("line", { class: "range", x1: cell.at[0], x2: cell.at[2], y1: 4, y2: 4 }),
      svg("rect", { class: "dot", x: cell.at[1] - 0.75, y: 0, width: 1.5, height: 8 }));

    const fillRow = (row, data) => {
      row.classList.toggle("dimmed", !data);
      const rank = row.cells[1];
      rank.dataset.value = data ? data.rank.low : "";
      rank.replaceChildren(data ? data.rank.text : "–", ...(data?.rank.mark ? [" ", el("span", { class: "tie" }, data.rank.mark)] : []), ...(data?.rank.to_best ? [el("span", { class: "to-best small muted" }, data.rank.to_best)] : []));
      for (const cell of row.querySelectorAll("td[data-key]")) {
        const item = data?.cells[cell.dataset.key];
        cell.dataset.value = item?.value ?? "";
        cell.title = item?.title ?? "";
        cell.classList.toggle("has-problem", Boolean(item?.problem));
        cell.replaceChildren(el("span", { class: "value" }, item?.text ?? "–"), ...(item?.at ? [intervalBar(item)] : []));
      }
    };

    const tradeOff = (slice, colours) => {
      const place = byId("trade-off-chart");
      place.replaceChildren(...(slice.charts.length ? slice.charts.map((chart) => parsemark.chartFigure(chart, colours))
        : [el("p", { class: "muted" }, "No parser has both a score and a time here.")]));
      byId("speed-charts").replaceChildren(...(slice.speed ?? []).map((chart) => parsemark.chartFigure(chart, colours)));
    };

    const showSlice = (data) => {
      const slice = data.slices[state.slice] ?? data.slices[""];
      for (const row of body.rows) fillRow(row, slice.rows[data.parsers[Number(row.dataset.parser)]]);
      tradeOff(slice, data.colours);
      byId("headline").textContent = state.slice ? `${slice.label}: ${slice.sentence}` : slice.sentence;
      sort();
      fit();
      status.textContent = `${slice.label}: ${slice.n_pages} page${slice.n_pages === 1 ? "" : "s"}`;
    };

    const wireDownloads = () => {
      const shown = () => {
        const visible = heads.filter((_, column) => !extra[column] || table.classList.contains("all-columns"));
        const line = (row) => visible.map((head) => row.cells[heads.indexOf(head)])
          .map((cell) => (cell.querySelector(".value, a") ?? cell).textContent.replace(/\s+/g, " ").trim());
        return [visible.map((head) => head.querySelector(".sort").textContent), ...[...body.rows].map(line)];
      };
      const kinds = {
        csv: () => parsemark.download("leaderboard.csv", "text/csv", parsemark.toCsv(shown())),
        markdown: () => parsemark.download("leaderboard.md", "text/markdown", parsemark.toMarkdown(shown())),
        latex: () => parsemark.download("leaderboard.tex", "application/x-latex", parsemark.toLatex(shown())),
      };
      for (const button of part.querySelectorAll("[data-download]")) {
        button.addEventListener("click", kinds[button.dataset.download]);
      }
    };

    // Columns that have no room are folded away, as in a terminal: from the right, what failed last. The button says how many.
    const toggle = byId("all-columns");
    const extra = heads.map((head) => head.classList.contains("extra-column"));
    const fold = (column, on) => {
      for (const row of table.rows) row.cells[column].classList.toggle("extra-column", on);
    };
    const fit = () => {
      const on = table.classList.contains("all-columns");
      table.classList.remove("all-columns");
      extra.forEach((is, column) => fold(column, is));
      const isCount = (column) => heads[column].dataset.style === "count";
      const last = heads.map((_, column) => column).slice(2).filter((column) => heads[column].dataset.key !== byDefault.sort)
        .sort((a, b) => isCount(a) - isCount(b) || b - a);
      for (const column of last) if (table.offsetWidth > table.parentElement.clientWidth) fold(column, true);
      const folded = heads.filter((head) => head.classList.contains("extra-column")).length;
      toggle.hidden = !folded;
      toggle.textContent = `All columns (${folded} more)`;
      table.classList.toggle("all-columns", on);
    };
    toggle.addEventListener("click", () => {
      const on = table.classList.toggle("all-columns");
      toggle.setAttribute("aria-pressed", String(on));
    });
    addEventListener("resize", fit);
    fit();

    const select = byId("slice");
    let data = null;
    const fromHash = () => {
      const hash = parsemark.readHash();
      state.slice = Object.hasOwn(data.slices, hash.get("slice") ?? "") ? hash.get("slice") ?? "" : "";
      const head = heads.find((h) => h.dataset.key === hash.get("sort"));
      if (head) {
        state.sort = head.dataset.key;
        state.order = hash.get("order") === "ascending" ? "ascending" : "descending";
      }
      if (select) select.value = state.slice;
      showSlice(data);
      document.documentElement.dataset.ready = "";
    };
    if (select) select.addEventListener("change", () => {
      state.slice = select.value;
      showSlice(data);
      remember();
    });
    wireDownloads();

    // Its data are loaded when it is shown first.
    return async () => {
      fit();
      try {
        data ??= await parsemark.load(table.dataset.chunk);
        fromHash();
      } catch (error) {
        parsemark.showError(byId("trade-off-chart"), error);
      }
    };
  };

  // One leaderboard is shown at a time; the address says which.
  const parts = [...document.querySelectorAll(".board-part")];
  const links = [...document.querySelectorAll(".switch a")];
  const shows = parts.map((part, k) => leaderboard(part, k === 0));
  const choose = () => {
    const wanted = parsemark.readHash().get("protocol");
    const k = Math.max(0, parts.findIndex((part) => part.dataset.protocol === wanted));
    parts.forEach((part, i) => part.classList.toggle("shown", i === k));
    links.forEach((link, i) => (i === k ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    return shows[k]();
  };
  addEventListener("hashchange", choose);
  choose();
})();
