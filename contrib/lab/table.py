"""The list of situations."""

from dataclasses import dataclass


@dataclass
class Situation:
    name: str
    title: str
    play: object
    #: Seconds on the clock of the guest, which may run fast.
    lasts: int
    #: The situation is worth its time only where the clock jumps: seconds that it lasts elsewhere.
    lasts_slow: int


SITUATIONS = {}


def situation(name, title, lasts=60, lasts_slow=None):
    """Adds a function to the list. It gets a `Ground`, and checks what it sees by `Ground.check`."""
    def add(play):
        SITUATIONS[name] = Situation(name, title, play, lasts, lasts_slow or lasts)
        return play
    return add
