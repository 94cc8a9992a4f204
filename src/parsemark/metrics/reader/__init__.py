"""`reader`: a table metric that agrees with people, and says why.

- `sheet`, `symbols`, `structure`: the table as a reader sees it, its look-alikes, and its headers
- `likeness`, `numerals`, `paths`: how two texts, two numbers, and two header paths differ
- `pages`, `stack`: all forms in which a prediction, or the truth, may be given
- `align`, `rejoin`, `regroup`: which row and column answers which; pieces put together again
- `naming`, `values`, `presence`, `find`: what happened to headers, names, values, rows and columns
- `read`: the best account of a table in any of these forms
- `events`, `parameters`: what an event is, what it costs, and every fitted number with its meaning
"""
