"""What a topic of the demo benchmark is made of, and helpers to write one down.

Standard library only, Python 3.9 or newer. Nothing here may depend on the Python version: of `random` only
`random()` is used, whose sequence for a seed is promised never to change.
"""

import dataclasses
import random
from typing import Dict, List, Optional, Tuple, Union

TOOL = "python_repl_ast"


class Dice:
    """Randomness by name: the same name gives the same numbers everywhere."""

    def __init__(self, name: str):
        self._random = random.Random(name).random

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self._random()

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def normal(self, mean: float, deviation: float) -> float:
        """Close enough to a normal distribution: the sum of twelve uniform draws."""
        total = 0.0
        for _ in range(12):
            total += self._random()
        return mean + deviation * (total - 6.0)

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def count(self, mean: float) -> int:
        """A number of rare events (Poisson), as the number of chances of 2 % that came true."""
        return sum(self._random() < 0.02 for _ in range(round(mean * 50)))

    def pick(self, choices):
        return choices[self.whole(0, len(choices) - 1)]


@dataclasses.dataclass
class Table:
    """A data file and its description in the metadata."""

    name: str
    description: str
    columns: List[Tuple[str, str]]
    rows: List[list]


@dataclasses.dataclass
class Sub:
    """A sub-hypothesis as the judge reads it."""

    text: str
    context: str
    variables: List[str]
    relations: str


@dataclasses.dataclass
class Verdict:
    """What the judge makes of an answer beside the gold.

    `same_context` says for which pairs (index of the answer's claim, index of the gold's claim) the judge, when it
    is asked, finds one context. `variables` are gold's, the answer's, and the common ones. `stumbles` is a first
    reply to every context question that is no JSON.
    """

    subs: List[Sub]
    variables: Tuple[int, int, int]
    relation: str
    explanation: str
    same_context: Tuple[Tuple[int, int], ...] = ()
    stumbles: Optional[str] = None


Reply = Union[str, Dict[str, object]]


@dataclasses.dataclass
class Run:
    """What the model under test says, by turn, and what the judge says about the answer, if there is one."""

    replies: List[Reply]
    finding: Optional[str] = None
    verdict: Optional[Verdict] = None


@dataclasses.dataclass
class Query:
    """A question, its gold, and how the two agents fare."""

    qid: int
    question: str
    question_type: str
    gold: str
    gold_subs: List[Sub]
    coder: Run
    react: Run
    #: Further members of the query in the metadata.
    extra: Dict[str, object] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Metadata:
    """One `metadata_<number>.json`. Hints exist in real splits only."""

    number: int
    tables: List[Table]
    queries: List[Query]
    domain_knowledge: Optional[str] = None
    workflow_tags: Optional[str] = None
    workflow: Optional[str] = None
    encoding: str = "utf-8"


@dataclasses.dataclass
class Topic:
    """One directory of a split."""

    split: str
    directory: str
    domain: str
    metadata: List[Metadata]

    @property
    def is_real(self) -> bool:
        return self.split.startswith("real")


def act(code: str, thought: str = "") -> str:
    """A turn that runs code."""
    code = code.strip("\n")
    # The reply parser strips quotes and blanks from both ends of the code; none of ours may be lost.
    assert code.strip(' "') == code, code
    assert "Final Answer:" not in code
    return f"{thought}{chr(10) if thought else ''}Action: {TOOL}\nAction Input: {code}"


def finish(finding: str, workflow: List[str], thought: str = "") -> str:
    """A turn that answers."""
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(workflow, 1))
    before = f"{thought}\n" if thought else ""
    return f"{before}Final Answer: {finding}\n\nWORKFLOW SUMMARY:\n{steps}"


def coder(code: str, finding: str, workflow: List[str], verdict: Verdict) -> Run:
    """CodeGen's usual two turns: the whole program, then the answer."""
    return Run([act(code), finish(finding, workflow)], finding, verdict)


def react(turns: List[Tuple[str, str]], finding: str, workflow: List[str], verdict: Verdict) -> Run:
    """ReAct's turns, each a thought and code, and the answer. The prompt already ends in `Thought: ` from the second
    turn on, so only the first turn says so itself."""
    replies: List[Reply] = []
    for thought, code in turns:
        replies.append(act(code, f"Thought: {thought}" if not replies else thought))
    replies.append(finish(finding, workflow, "That settles the question."))
    return Run(replies, finding, verdict)


def single(text: str, context: str, variables: List[str], relations: str) -> List[Sub]:
    return [Sub(text, context, variables, relations)]
