// Which characters changed: a longest common subsequence of code points, bounded in size.
"use strict";
(() => {
  const LONGEST = 600;

  const commonPrefix = (a, b) => {
    let n = 0;
    while (n < a.length && n < b.length && a[n] === b[n]) n += 1;
    return n;
  };

  const middle = (a, b) => {
    const width = b.length + 1;
    const best = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        best[i * width + j] = a[i] === b[j]
          ? best[(i + 1) * width + j + 1] + 1
          : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
      }
    }
    const parts = [];
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) parts.push(["same", a[i++]]), (j += 1);
      else if (j >= b.length || (i < a.length && best[(i + 1) * width + j] >= best[i * width + j + 1])) parts.push(["gone", a[i++]]);
      else parts.push(["new", b[j++]]);
    }
    return parts;
  };

  const joined = (parts) => {
    const runs = [];
    for (const [kind, text] of parts) {
      if (!text) continue;
      if (runs.length && runs.at(-1)[0] === kind) runs.at(-1)[1] += text;
      else runs.push([kind, text]);
    }
    return runs;
  };

  const MOST_WORDS = 3000;

  // The same runs for whole outputs, word by word; the rest of longer ones is left out.
  parsemark.diffWords = (before, after) => {
    const [a, b] = [before, after].map((text) => (text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []));
    const head = commonPrefix(a, b);
    const tail = commonPrefix(a.slice(head).reverse(), b.slice(head).reverse());
    const cut = (words) => words.slice(head, words.length - tail).slice(0, MOST_WORDS);
    return joined([["same", a.slice(0, head).join("")], ...middle(cut(a), cut(b)), ["same", tail ? a.slice(-tail).join("") : ""]]);
  };

  // What a parser returned as text, table rows as lines; cut where it is too long to be compared.
  const MOST_CHARACTERS = 20000;
  const rowsOf = (table) => {
    const rows = new Map();
    for (const cell of table.cells) rows.set(cell.row, [...(rows.get(cell.row) ?? []), cell.text]);
    return [...rows].sort(([a], [b]) => a - b).map(([, cells]) => cells.join(" | ")).join("\n");
  };
  parsemark.outputText = (prediction) => {
    const parts = (prediction?.elements ?? []).map((e) => (e.table ? rowsOf(e.table) : e.text ?? e.latex ?? e.html ?? ""));
    const text = parts.filter(Boolean).join("\n\n") || (prediction?.text ?? "");
    return text.slice(0, MOST_CHARACTERS);
  };

  // [kind, text] runs: "same", "gone" (only in the truth), "new" (only in the prediction). Texts with less than
  // half in common are shown one after the other: letters that agree by chance explain nothing.
  parsemark.diffText = (truth, pred) => {
    const a = [...truth];
    const b = [...pred];
    const head = commonPrefix(a, b);
    const tail = commonPrefix(a.slice(head).reverse(), b.slice(head).reverse());
    const left = a.slice(head, a.length - tail);
    const right = b.slice(head, b.length - tail);
    const inner = left.length > LONGEST || right.length > LONGEST
      ? [["gone", left.join("")], ["new", right.join("")]]
      : middle(left, right);
    const runs = joined([["same", a.slice(0, head).join("")], ...inner, ["same", tail ? a.slice(-tail).join("") : ""]]);
    const kept = runs.reduce((sum, [kind, text]) => sum + (kind === "same" ? [...text].length : 0), 0);
    return kept * 2 >= Math.max(a.length, b.length) ? runs : joined([["gone", truth], ["new", pred]]);
  };
})();
