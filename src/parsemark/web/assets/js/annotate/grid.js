// A table as a grid that is edited as in a spreadsheet. It draws, and tells what should be done; the server does it.
"use strict";
(() => {
  const { el, annotated } = parsemark;
  const at = { row: 0, col: 0, toRow: 0, toCol: 0 };
  let table = null;
  let name = null;
  let editing = null;
  let place = null;

  const cellAt = (row, col) => parsemark.gridOf(table)[row]?.[col];
  const clamp = (value, high) => Math.max(0, Math.min(high, value));
  const range = () => ({
    top: Math.min(at.row, at.toRow), bottom: Math.max(at.row, at.toRow), left: Math.min(at.col, at.toCol), right: Math.max(at.col, at.toCol),
  });
  const nodeAt = (row, col) => {
    const cell = cellAt(row, col) || { row, col };
    return place.querySelector(`[data-place="${cell.row},${cell.col}"]`);
  };

  const paint = () => {
    const { top, bottom, left, right } = range();
    for (const node of place.querySelectorAll("[data-place]")) {
      const [row, col] = node.dataset.place.split(",").map(Number);
      const inside = row <= bottom && row + node.rowSpan - 1 >= top && col <= right && col + node.colSpan - 1 >= left;
      node.classList.toggle("chosen", inside);
      node.tabIndex = -1;
    }
    const here = nodeAt(at.toRow, at.toCol);
    if (here) {
      here.tabIndex = 0;
      if (!editing) here.focus({ preventScroll: false });
    }
  };

  const finish = () => {
    if (!editing) return;
    const open = editing;
    editing = null;
    open.input.remove();
    draw(place, name, table, true);
  };

  // What was written since the cell was opened is one edit; Escape takes it back, as in a spreadsheet.
  const cancel = () => {
    const { isWritten } = editing;
    finish();
    if (isWritten) annotated.undo();
  };

  // `replacement` is the first letter of somebody who types on a chosen cell; arrows then leave the cell again.
  const begin = (replacement = null) => {
    const cell = cellAt(at.row, at.col) || { row: at.row, col: at.col, text: "" };
    const node = nodeAt(at.row, at.col);
    if (!node) return;
    Object.assign(at, { toRow: at.row, toCol: at.col });
    const input = el("textarea", { class: "cell-input", rows: "1", "aria-label": `Row ${cell.row + 1}, column ${cell.col + 1}`, spellcheck: "false" });
    input.value = replacement ?? cell.text;
    node.replaceChildren(input);
    editing = { input, row: cell.row, col: cell.col, element: name, isQuick: replacement !== null, isWritten: false };
    const typing = parsemark.nonce(); // what is typed until the cell is left is one edit, which one undo takes back
    const send = () => {
      editing.isWritten = true;
      annotated.edit({ do: "text", element: editing.element, row: editing.row, col: editing.col, text: input.value, typing }, typing);
    };
    input.addEventListener("input", send);
    input.addEventListener("blur", () => setTimeout(() => { if (editing?.input === input && document.hasFocus()) finish(); }));
    input.focus();
    if (replacement === null) input.select();
    else send();
  };

  const move = (rows, columns, extend) => {
    const cell = cellAt(at.toRow, at.toCol);
    let [row, col] = [at.toRow + rows, at.toCol + columns];
    if (cell && rows > 0) row = cell.row + (cell.rowspan || 1);
    if (cell && columns > 0) col = cell.col + (cell.colspan || 1);
    at.toRow = clamp(row, table.n_rows - 1);
    at.toCol = clamp(col, table.n_cols - 1);
    if (!extend) Object.assign(at, { row: at.toRow, col: at.toCol });
    paint();
  };

  const step = (backwards) => {
    let [row, col] = [at.row, at.col];
    for (let k = 0; k < table.n_rows * table.n_cols; k += 1) {
      col += backwards ? -1 : 1;
      if (col >= table.n_cols) [row, col] = [row + 1, 0];
      if (col < 0) [row, col] = [row - 1, table.n_cols - 1];
      if (row < 0 || row >= table.n_rows) return;
      const cell = cellAt(row, col);
      if (!cell || (cell.row === row && cell.col === col)) break;
    }
    Object.assign(at, { row, col, toRow: row, toCol: col });
    paint();
  };

  const edit = (what) => annotated.edit({ element: name, ...what });
  const MOVES = {
    ArrowUp: (e) => move(-1, 0, e.shiftKey), ArrowDown: (e) => move(1, 0, e.shiftKey),
    ArrowLeft: (e) => move(0, -1, e.shiftKey), ArrowRight: (e) => move(0, 1, e.shiftKey),
    Tab: (e) => step(e.shiftKey), Home: () => move(0, -at.toCol, false), End: () => move(0, table.n_cols, false),
    Enter: () => begin(), F2: () => begin(), Backspace: () => clear(), Delete: () => clear(),
  };
  const clear = () => {
    const { top, bottom, left, right } = range();
    edit({ do: "clear", row: top, col: left, to_row: bottom, to_col: right });
  };
  const COMMANDS = {
    merge: () => {
      const { top, bottom, left, right } = range();
      edit({ do: "merge", row: top, col: left, to_row: bottom, to_col: right });
      Object.assign(at, { row: top, col: left, toRow: top, toCol: left });
    },
    split: () => edit({ do: "split", row: at.row, col: at.col }),
    "row-below": () => edit({ do: "insert_row", at: range().bottom + 1 }), "row-above": () => edit({ do: "insert_row", at: range().top }),
    "column-right": () => edit({ do: "insert_col", at: range().right + 1 }), "column-left": () => edit({ do: "insert_col", at: range().left }),
    "delete-row": () => edit({ do: "delete_row", at: at.row }), "delete-column": () => edit({ do: "delete_col", at: at.col }),
    header: () => edit({ do: "header", row: at.row, col: at.col }), "header-rows": () => edit({ do: "header_rows", count: range().bottom + 1 }),
    transpose: () => edit({ do: "transpose" }),
  };
  const isCommand = (event) => event.ctrlKey || event.metaKey || event.altKey;

  const onKey = (event) => {
    if (isCommand(event)) return;
    if (editing) {
      const leaves = editing.isQuick && event.key.startsWith("Arrow");
      if (event.key === "Escape") cancel();
      else if (event.key === "Tab" || leaves || (event.key === "Enter" && !event.shiftKey)) {
        event.preventDefault();
        finish();
        if (event.key === "Enter") move(1, 0, false);
        else MOVES[event.key](event);
      }
      event.stopPropagation();
      return;
    }
    const isLetter = event.key.length === 1;
    if (!isLetter && !MOVES[event.key]) return;
    if (event.key === "Tab" && ((event.shiftKey && !at.row && !at.col) || (!event.shiftKey && at.row === table.n_rows - 1 && at.col === table.n_cols - 1))) return;
    event.preventDefault();
    event.stopPropagation();
    if (isLetter) begin(event.key);
    else MOVES[event.key](event);
  };

  // Cells as spreadsheets give and take them: tabs and line ends, quotes around texts that have such.
  const fromTsv = (text) => {
    const rows = [[""]];
    let quoted = false;
    for (let k = 0; k < text.length; k += 1) {
      const row = rows[rows.length - 1];
      const sign = text[k];
      if (quoted && sign === '"' && text[k + 1] === '"') row[row.length - 1] += text[++k];
      else if (sign === '"' && (quoted || row[row.length - 1] === "")) quoted = !quoted;
      else if (!quoted && sign === "\t") row.push("");
      else if (!quoted && sign === "\n") rows.push([""]);
      else if (quoted || sign !== "\r") row[row.length - 1] += sign;
    }
    if (rows.length > 1 && rows[rows.length - 1].join("") === "") rows.pop();
    return rows;
  };
  const toTsv = () => {
    const { top, bottom, left, right } = range();
    const quote = (text) => (/["\t\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const rows = parsemark.gridOf(table).slice(top, bottom + 1);
    return rows.map((row, r) => Array.from({ length: right - left + 1 }, (_, c) => {
      const cell = row[left + c];
      return cell && cell.row === top + r && cell.col === left + c ? quote(cell.text) : "";
    }).join("\t")).join("\n");
  };
  const isTouched = window.matchMedia("(pointer: coarse)"); // a second tap opens the cell, and the keyboard with it
  const isHere = (event) => !editing && place && event.target.closest?.(".editing");
  document.addEventListener("paste", (event) => {
    if (!isHere(event)) return;
    event.preventDefault();
    const texts = fromTsv(event.clipboardData.getData("text/plain"));
    const { top, left } = range();
    edit({ do: "paste", row: top, col: left, texts });
    Object.assign(at, { row: top, col: left, toRow: top + texts.length - 1, toCol: left + Math.max(...texts.map((row) => row.length)) - 1 });
  });
  for (const kind of ["copy", "cut"]) {
    document.addEventListener(kind, (event) => {
      if (!isHere(event)) return;
      event.preventDefault();
      event.clipboardData.setData("text/plain", toTsv());
      if (kind === "cut") clear();
    });
  }

  const draw = (where, element, data, focus) => {
    if (name !== element) Object.assign(at, { row: 0, col: 0, toRow: 0, toCol: 0 });
    [place, name, table] = [where, element, data];
    if (editing && editing.element === element) return; // the person is writing here
    for (const key of ["row", "toRow"]) at[key] = clamp(at[key], table.n_rows - 1);
    for (const key of ["col", "toCol"]) at[key] = clamp(at[key], table.n_cols - 1);
    const doubts = new Map((annotated.uncertain[element] || []).map(([row, col, share]) => [`${row},${col}`, share]));
    const grid = parsemark.gridOf(table);
    const rows = grid.map((row, r) => el("tr", {}, Array.from({ length: table.n_cols }, (_, c) => {
      const cell = row[c];
      if (cell && (cell.row !== r || cell.col !== c)) return null;
      const share = doubts.get(`${r},${c}`);
      return el("td", {
        class: [cell?.header && "is-header", share !== undefined && "doubt", !cell && "hole"].filter(Boolean).join(" "), tabindex: "-1", role: "gridcell",
        rowspan: cell?.rowspan > 1 && cell.rowspan, colspan: cell?.colspan > 1 && cell.colspan, data: { place: `${r},${c}` },
        title: share !== undefined ? `${Math.round(100 * share)} % of the parsers agree` : null,
        on: { mousedown: (e) => { if (e.target.closest(".cell-input")) return; finish(); e.preventDefault(); const again = isTouched.matches && at.row === r && at.col === c; if (again) { begin(); return; } Object.assign(at, e.shiftKey ? { toRow: r, toCol: c } : { row: r, col: c, toRow: r, toCol: c }); paint(); }, dblclick: () => begin() },
      }, el("bdi", {}, parsemark.visible(cell ? cell.text : "")));
    })));
    place.replaceChildren(el("div", { class: "grid-frame" }, el("table", { class: "grid editing", role: "grid", "aria-label": `Table ${element}`, on: { keydown: onKey } }, el("tbody", {}, rows))));
    if (focus) paint();
  };

  parsemark.tableEditor = {
    draw,
    isWriting: () => Boolean(editing),
    goTo: (row, col) => { Object.assign(at, { row, col, toRow: row, toCol: col }); paint(); },
    where: () => ({ name, ...at }),
    command: (what) => { finish(); COMMANDS[what](); },
    has: (what) => what in COMMANDS,
    drop: () => { editing = null; },
    leave: () => { editing = null; name = null; },
  };
})();
