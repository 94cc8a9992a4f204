"""`reader`: a table metric that agrees with people, and says why.

- `sheet`, `structure`: the table as a reader sees it, and its headers
- `symbols`, `value_kinds`: two tables with signs, citations and values written in one way
- `texts`, `likeness`, `paths`: how two texts, and two header paths, differ
- `pages`: all forms in which a prediction, or the truth, may be given
- `align`, `regroup`: which row and column answers which; pieces put together again
- `value_events`, `name_events`, `find_events`: what happened to values, headers, names, rows and columns
- `metric`: the best account of a table in any of these forms
- `events`, `parameters`: what an event is, what it costs, and every fitted number with its meaning
"""
