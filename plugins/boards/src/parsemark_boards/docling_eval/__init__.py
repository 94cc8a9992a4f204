"""docling-eval's evaluators (release 1.4.1): tables, text, layout, structure, forms and words.

Documents are plain data: `{"pages": {"1": [width, height]}, "items": [item, …]}`, an item
`{label, text, level, layer, prov: [{page, box: [l, t, r, b], origin}], children, caption, table}` and a table
`{rows, cols, cells: [[row, col, rowspan, colspan, text, flags], …]}` with the flags `c` (column header), `r`
(row header) and `s` (section). Groups are items with a label such as `group:list`.
"""
