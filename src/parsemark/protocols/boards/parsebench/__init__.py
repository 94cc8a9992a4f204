"""ParseBench's rules (`run-llama/ParseBench` at facdaf0); `docs/boards/parsebench.md` says what is kept."""
