"""PureDocBench: pages rendered from HTML, on three tracks of growing damage."""
