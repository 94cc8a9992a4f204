"""`python -m parsemark`: the command where its script is not on the path."""

from parsemark.cli.main import run

if __name__ == "__main__":
    run()
