"""Runs the Python of a checkout with every library replaced by a stand-in, and answers with the texts it makes.

Standard library only.
"""
import importlib.abc
import importlib.machinery
import json
import sys
import types
from contextlib import redirect_stdout
from io import StringIO

LIBRARIES = {
    "IPython", "click", "langchain", "langchain_anthropic", "langchain_core", "langchain_experimental",
    "langchain_google_genai", "langchain_openai", "langchain_together", "numpy", "openai", "pandas", "sympy", "tenacity",
}


class Anything:
    """A class, function or value that may be called, subclassed and looked into."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return Anything()

    def __getattr__(self, name):
        return Anything()


class Library(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == "tenacity" and name == "retry":
            return lambda **_: lambda function: function
        return type(name, (Anything,), {})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in LIBRARIES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Library(spec.name)

    def exec_module(self, module):
        pass


class Client:
    """Records a request and answers `reply`."""

    def __init__(self, reply, requests):
        self.reply, self.requests = reply, requests
        self.chat = self.completions = self

    def create(self, **kwargs):
        self.requests.append(kwargs)
        message = types.SimpleNamespace(content=self.reply)
        return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message)])


def task_input(case):
    from agents.coder_agent import BaseAgent
    from utils.autonomous_single_agent import run_autonomous_single_agent_discoverybench as run

    seen = []
    agent = BaseAgent.__new__(BaseAgent)
    agent.agent = types.SimpleNamespace(invoke=lambda input: seen.append(input))
    agent.logger = Anything()
    with open(case["metadata"], encoding=case["encoding"]) as file:
        metadata = json.load(file)
    run(agent, case["paths"], metadata, case["question"], case["knowledge"], case["tags"], case["kind"])
    return seen[0]


def agent_prompt(case):
    module = __import__("agents.%s_utils" % case["agent"], fromlist=["template"])
    tool = types.SimpleNamespace(name=case["tool"], description=case["description"])
    prompt = types.SimpleNamespace(template=module.template, tools=[tool])
    steps = [(types.SimpleNamespace(log=log), observation) for log, observation in case["steps"]]
    return module.CustomPromptTemplate.format(
        prompt, intermediate_steps=steps, system_prompt=case["system"], input=case["input"]
    )


def judge_requests(case):
    import eval.lm_utils as lm_utils
    import eval.new_eval as judge

    requests = []
    replies = {"segment": '{"sub_hypo": []}', "context": '{"match": true}'}
    with open(case["metadata"], encoding=case["encoding"]) as file:
        metadata = json.load(file)
    common = [metadata, "m"]
    judge.OpenAI = lambda: Client(replies["segment"], requests)
    judge.get_sub_hypotheses("q", case["gold"], case["workflow"], *common, case["kind"])
    judge.OpenAI = lambda: Client(replies["context"], requests)
    judge.match_context_with_gpt(case["gold"], case["gold_context"], case["pred"], case["pred_context"], model="m")
    lm_utils.OpenAI = lambda: Client('{"answer": "A"}', requests)
    questions = []
    for dimension in ["var", "rel"]:
        question, _, _ = judge.ask_dimension_question(
            case["question"], case["gold"], case["workflow"], case["pred"], case["workflow"], *common, dimension, case["kind"]
        )
        questions.append(question)
    return {"requests": requests, "questions": questions}


def answer(request):
    if request["checkout"] not in sys.path:
        sys.dont_write_bytecode = True
        sys.path.insert(0, request["checkout"])
        sys.meta_path.insert(0, Finder())
    make = {"input": task_input, "prompt": agent_prompt, "judge": judge_requests}[request["make"]]
    with redirect_stdout(StringIO()):
        try:
            return make(request)
        except Exception as error:
            return {"raised": "%s: %s" % (type(error).__name__, error)}
