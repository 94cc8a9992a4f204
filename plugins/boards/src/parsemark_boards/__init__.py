"""Other projects' PDF benchmarks as parsemark protocols and corpora. One folder per benchmark."""
