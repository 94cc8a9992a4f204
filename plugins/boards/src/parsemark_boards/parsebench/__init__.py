"""ParseBench's rules (`run-llama/ParseBench` at facdaf0); `docs/parsebench.md` says what is kept."""
