"""The list of attacks, and what a row of the table is."""

from dataclasses import dataclass, field


@dataclass
class Attack:
    name: str
    tried: str
    must: str
    play: object
    #: Whether B's latency is measured and judged.
    measures: bool
    configuration: str


ATTACKS = []


def attack(name, tried, must, measures=False, configuration=""):
    """Adds a function to the list. It returns what was seen, and raises Failure if that is not as it must be."""
    def add(play):
        ATTACKS.append(Attack(name, tried, must, play, measures, configuration))
        return play
    return add


@dataclass
class Row:
    name: str
    tried: str
    must: str
    verdict: str = ""
    seen: str = ""
    latency: str = ""
    seconds: float = 0
    #: It failed by time, which may be the machine's doing.
    is_late: bool = False
    more: dict = field(default_factory=dict)
