#!/usr/bin/env python3
"""Writes the demo benchmark and its script from the topics: `generate.py [DIRECTORY]`, by default its own.

The same bytes come out on every run and every Python from 3.9 on; a test holds the committed files against them.
`prompt-pack.json` and `expected.json` are written by hand and are not touched.
"""

import csv
import io
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from topics import (  # noqa: E402  (the path has to be set first)
    bread_fermentation,
    clock_making,
    ferry_service,
    hillside_hives,
    kite_festivals,
    lighthouse_log,
    pottery_glazes,
    tea_gardens,
    tide_pools,
    training,
)

TOPICS = [
    lighthouse_log.TOPIC,
    hillside_hives.TOPIC,
    ferry_service.TOPIC,
    tide_pools.TOPIC,
    *bread_fermentation.TOPICS,
    pottery_glazes.TOPIC,
    *kite_festivals.TOPICS,
    clock_making.TOPIC,
    tea_gardens.TOPIC,
    *training.TOPICS,
]

#: Sentences of the two agent templates by which the stand-in tells the agents apart.
MARKS = {"coder": "Your program runs a single time", "react": "Work in small steps"}

#: What the stand-in does beside its replies: slow enough to be watched, quick enough to be waited for.
SETTINGS = {
    "seed": 20,
    "models": ["demo-agent", "demo-judge"],
    "latency": {"lognormal": {"median": 320, "p95": 900}},
}


def main():
    into = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for path, content in files():
        path = into / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def files():
    """Every file by path, with its bytes."""
    for topic in TOPICS:
        kind, part = topic.split.split("_")
        folder = pathlib.PurePosixPath("benchmark", "discoverybench", kind, part, topic.directory)
        for metadata in topic.metadata:
            text = json.dumps(describe(topic, metadata), indent=4, ensure_ascii=False)
            yield folder / f"metadata_{metadata.number}.json", text.encode(metadata.encoding)
        for table in {table.name: table for metadata in topic.metadata for table in metadata.tables}.values():
            yield folder / table.name, table_bytes(table)
    # The published key of the synthetic split is in Windows code page 1252, too.
    for kind, encoding in (("real", "utf-8"), ("synth", "cp1252")):
        yield pathlib.PurePosixPath("benchmark", "eval", f"answer_key_{kind}.csv"), key_bytes(kind, encoding)
    script = json.dumps({**SETTINGS, "tasks": list(script_entries())}, indent=1, ensure_ascii=False)
    yield pathlib.PurePosixPath("script.json"), (script + "\n").encode()


def table_bytes(table):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, _ in table.columns])
    writer.writerows(table.rows)
    return text.getvalue().encode()


def key_bytes(kind, encoding):
    """The answer key of a test split. Rows are ordered as text, as in the published keys."""
    rows = [
        (topic.directory, str(metadata.number), str(query.qid), query.gold)
        for topic in TOPICS
        if topic.split == f"{kind}_test"
        for metadata in topic.metadata
        for query in metadata.queries
    ]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["dataset", "metadataid", "query_id", "gold_hypo"])
    writer.writerows(sorted(rows))
    return text.getvalue().encode(encoding)


def describe(topic, metadata):
    """The content of a metadata file, in the form of its kind of split."""
    real = topic.is_real
    value = {"id": 0 if real else metadata.number, "domain": topic.domain}
    if metadata.workflow_tags is not None:
        value["workflow_tags"] = metadata.workflow_tags
    if metadata.domain_knowledge is not None:
        value["domain_knowledge"] = metadata.domain_knowledge
    value["datasets"] = []
    for table in metadata.tables:
        columns = [{"name": name, "description": description} for name, description in table.columns]
        value["datasets"].append(
            {
                "name": table.name,
                "description": table.description,
                "columns": {"raw": columns} if real else columns,
            }
        )
    if real:
        # The gold of a test split stands in the answer key only.
        main = [{"text": query.gold} for query in metadata.queries] if topic.split == "real_train" else [{}]
        value["intermediate"] = []
        value["hypotheses"] = {"main": main, "intermediate": []}
    if metadata.workflow is not None:
        value["workflow"] = metadata.workflow
    queries = [
        {"qid": query.qid, "question_type": query.question_type, "question": query.question, **query.extra}
        for query in metadata.queries
    ]
    # Real splits nest their queries once more than synthetic ones.
    value["queries"] = [queries] if real else queries
    return value


def script_entries():
    """Three entries a task: what each agent says, and what the judge says about either."""
    for topic in TOPICS:
        for metadata in topic.metadata:
            for query in metadata.queries:
                task = f"{topic.split}__{topic.directory}__{metadata.number}__{query.qid}"
                names = [table.name for table in metadata.tables]
                for agent, run in (("coder", query.coder), ("react", query.react)):
                    yield {"task": task, "files": [query.question, MARKS[agent], *names], "agent": run.replies}
                yield judge_entry(task, query)


def judge_entry(task, query):
    # Both agents may give the same finding, then one set of replies serves both.
    answers = {run.finding: run.verdict for run in (query.coder, query.react) if run.finding is not None}
    judge_match = [query.gold] + [sub.text for sub in query.gold_subs]
    replies = {"sub_hypotheses": [segmented(query.gold, query.gold_subs)], "context": [], "variables": [], "relation": []}
    for finding, verdict in answers.items():
        judge_match += [finding] + [sub.text for sub in verdict.subs]
        replies["sub_hypotheses"].append(segmented(finding, verdict.subs))
        for index, sub in enumerate(verdict.subs):
            if any(sub.context == gold.context for gold in query.gold_subs):
                # Equal contexts match without a question.
                continue
            if verdict.stumbles is not None:
                replies["context"].append({"match": sub.text, "content": verdict.stumbles})
            same = any(index == of_answer for of_answer, _ in verdict.same_context)
            replies["context"].append({"match": sub.text, "content": {"match": same}})
        size_a, size_b, shared = verdict.variables
        counted = {"sizeA": size_a, "sizeB": size_b, "intersection": shared, "explanation": verdict.explanation}
        replies["variables"].append({"match": finding, "content": counted})
        compared = {"answer": verdict.relation, "explanation": verdict.explanation}
        replies["relation"].append({"match": finding, "content": compared})
    return {
        "task": task,
        "question": query.question,
        "judge_match": list(dict.fromkeys(judge_match)),
        "judge": {kind: says for kind, says in replies.items() if says},
    }


def segmented(finding, subs):
    """The judge's reply to a finding. Models like to fence JSON; the first claim's length decides who does."""
    claims = [
        {"text": sub.text, "context": sub.context, "variables": sub.variables, "relations": sub.relations}
        for sub in subs
    ]
    content = {"sub_hypo": claims}
    if len(subs[0].text) % 3 == 0:
        content = "```json\n" + json.dumps(content, indent=2, ensure_ascii=False) + "\n```"
    return {"match": finding, "content": content}


if __name__ == "__main__":
    main()
