"""`python -m parley`."""

from parley.cli import main

if __name__ == "__main__":  # a process that `verify` starts imports this too
    main()
