// Downloads made in the browser: CSV, Markdown, LaTeX, SVG.
"use strict";
(() => {
  parsemark.download = (name, type, text) => {
    const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    const link = parsemark.el("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };

  // A leading = + - @ makes some spreadsheets run a cell as a formula; names of parsers are not ours.
  const csvCell = (value) => {
    const text = String(value ?? "");
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  parsemark.toCsv = (rows) => `${rows.map((row) => row.map(csvCell).join(",")).join("\n")}\n`;

  const markdownCell = (value) => String(value ?? "").replace(/[\\|`*_<>[\]]/g, "\\$&").replace(/\s+/g, " ");
  parsemark.toMarkdown = ([head, ...rows]) => {
    const line = (cells) => `| ${cells.map(markdownCell).join(" | ")} |`;
    return `${[line(head), `|${head.map((_, i) => (i ? " ---: |" : " --- |")).join("")}`, ...rows.map(line)].join("\n")}\n`;
  };

  const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--", "−": "$-$" };
  const latexCell = (value) => String(value ?? "")
    .replace(/[\\~^–−]|[&%$#_{}]/g, (c) => LATEX[c] ?? `\\${c}`).replace(/\s+/g, " ");
  parsemark.toLatex = ([head, ...rows]) => {
    const line = (cells) => `${cells.map(latexCell).join(" & ")} \\\\`;
    return ["% needs \\usepackage{booktabs}", `\\begin{tabular}{l${"r".repeat(head.length - 1)}}`, "\\toprule",
      line(head), "\\midrule", ...rows.map(line), "\\bottomrule", "\\end{tabular}", ""].join("\n");
  };
})();
