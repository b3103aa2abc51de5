"""``python -m tradewind``: the command line."""

from tradewind.cli import main

main()
