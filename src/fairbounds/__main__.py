"""Let ``python -m fairbounds`` be the command line."""

from fairbounds.cli import main

if __name__ == "__main__":
    main()
