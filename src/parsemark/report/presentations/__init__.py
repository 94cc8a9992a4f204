"""Charts and tables of single protocols: each has a `Drawing`, which `Presentation.drawing` names."""
