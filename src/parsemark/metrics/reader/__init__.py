"""`reader`: a table metric that agrees with people, and says why.

- `sheet`, `structure`: the table as a reader sees it, and its headers
- `likeness`, `paths`: how alike two texts, and two column headers, are
- `align`, `rejoin`: which row and column answers which
- `credit`, `names`, `facts`: what is left of each value with its headers
- `read`, `verdict`, `explain`: all tables of an output together, the value, and the errors in words
- `parameters`: every fitted number, with its meaning
"""
