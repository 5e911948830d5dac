"""The list of situations."""

from dataclasses import dataclass


@dataclass
class Situation:
    name: str
    title: str
    play: object
    #: Seconds on the clock of the guest, which may jump, and where it does not.
    lasts: int
    lasts_slow: int
    #: The only kernel that can play it; None for both.
    needs: str | None


SITUATIONS = {}


def situation(name, title, lasts=60, lasts_slow=None, needs=None):
    """Adds a function to the list. It gets a `Ground`, and checks what it sees by `Ground.check`."""
    def add(play):
        SITUATIONS[name] = Situation(name, title, play, lasts, lasts_slow or lasts, needs)
        return play
    return add
