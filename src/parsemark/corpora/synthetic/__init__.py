"""Plans pages of our own: words, drafts of tables, stories; the rooms below it set and locate them."""
