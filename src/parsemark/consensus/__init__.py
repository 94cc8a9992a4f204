"""What several parsers say together: the only place where outputs are grouped, voted on and weighed.

Four rules, which ensembles, estimated confidences, `annotate`, `choose` and audits share:

- Parsers that stand on one engine share one vote. An engine stands in the header of a worker, and in the
  manifest of a run (`Manifest.engines`); settings, versions and what is derived of a tool share its engine.
  Where many pages are compared, parsers that make the same errors share one vote as well
  (`ParserAgreement.families`: `choose` and audits; one page alone does not show it).
- Tables are the same if their boxes overlap by half; where a box is missing, or the boxes only touch each
  other, if their texts are alike (`same_table`).
- Each cell takes the text of the greatest weight among tables of the same size (`vote`).
- A group has one vote, shared among its members, and weighs by how much it agrees with the other groups
  (`competence`).
"""
