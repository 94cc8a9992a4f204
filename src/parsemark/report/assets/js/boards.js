// The board of boards: find a parser by a part of its name, sort by a column.
"use strict";
(() => {
  const filter = document.getElementById("filter");
  const status = document.getElementById("filter-status");
  const rows = [...document.querySelectorAll("table.boards tbody tr")];

  const show = () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
    status.textContent = parsemark.counted(rows.filter((row) => !row.hidden).length, "row");
  };
  filter.addEventListener("input", show);

  // What has no value comes last in either direction.
  const sort = (table, head) => {
    const column = Number(head.dataset.column) + 1;
    const order = head.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
    const value = (row) => (row.cells[column].dataset.value === "" ? null : Number(row.cells[column].dataset.value));
    const sign = order === "descending" ? -1 : 1;
    const sorted = [...table.tBodies[0].rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return x === null || y === null ? (x === null) - (y === null) : sign * (x - y);
    });
    table.tBodies[0].append(...sorted);
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
  };
  for (const table of document.querySelectorAll("table.boards")) {
    for (const head of table.querySelectorAll("th[data-column]")) {
      head.querySelector(".sort").addEventListener("click", () => sort(table, head));
    }
  }
  show();
  document.documentElement.dataset.ready = "";
})();
