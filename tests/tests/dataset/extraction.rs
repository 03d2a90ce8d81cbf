//! Prompts are read from Python source as it is, or not at all.

use std::{fmt::Write as _, fs};

use argosy_coordinator::dataset::pack::{self, Error};

use crate::fixture::{self, Copy};

/// A change of the source, and the refusal it must meet.
struct Case {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// Text of the line that is named, after the change.
    at: &'static str,
    expected: &'static str,
}

const CODER: &str = "agents/coder_utils.py";
const REACT: &str = "agents/react_utils.py";
const CODER_CLASS: &str = "agents/coder_agent.py";
const REACT_CLASS: &str = "agents/react_agent.py";
const MAIN: &str = "discovery_agent.py";
const ORDERS: &str = "utils/autonomous_single_agent.py";
const HELPERS: &str = "utils/openai_helpers.py";
const REQUESTS: &str = "eval/lm_utils.py";
const JUDGE: &str = "eval/new_eval.py";

const fn case(
    file: &'static str,
    from: &'static str,
    to: &'static str,
    at: &'static str,
    expected: &'static str,
) -> Case {
    Case { file, from, to, at, expected }
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    // --- agent templates
    case(CODER, "{input}", "{input!r}", "template = \"\"\"", "a format template with plain `{name}` fields, not `{input!r}`"),
    case(CODER, "{{'depth': 3}}", "{'depth': 3}", "template = \"\"\"", "a format template with plain `{name}` fields, not `{'depth': 3}`"),
    case(CODER, "template = \"\"\"", "template = f\"\"\"", "template = f\"\"\"", "a plain string"),
    case(CODER, "class CustomOutputParser", "template += 'x'\n\nclass CustomOutputParser", "template += 'x'", "no further statement that changes `template`"),
    case(CODER, "class CustomOutputParser", "template.x = 1\n\nclass CustomOutputParser", "template.x = 1", "no further statement that changes `template`"),
    case(REACT, "class CustomOutputParser", "def f():\n    global template\n\nclass CustomOutputParser", "def f():", "no further statement that changes `template`"),
    case(REACT, "import re\n", "import re\nfrom x import *\n", "from x import *", "no `import *`"),
    case(CODER, "log += step.log\n", "log += step.log.strip()\n", "log += step.log.strip()", "`<scratchpad> += <action>.log`"),
    case(CODER, "            log += step.log\n", "", "log += f\"", "`<scratchpad> += <action>.log`"),
    case(CODER, "            log += step.log\n", "            log += step.log\n            log += '!'\n", "log += '!'", "`<scratchpad> += <f-string>`"),
    case(CODER, "{seen}", "{seen:>9}", "{seen:>9}", "a hole without conversion and format"),
    case(CODER, "{seen}", "{step}", "{step}", "an f-string with the holes `{seen}`"),
    case(CODER, "        return self.template.format(**kwargs)", "        kwargs['input'] = kwargs['input'].strip()\n        return self.template.format(**kwargs)", "kwargs['input'] = kwargs", "`return self.template.format(**kwargs)`"),
    case(CODER, "{tool.name}: {tool.description}", "{tool.name} - {tool.description}", "{tool.name} - {tool.description}", "`kwargs[\"tools\"] = "),
    case(CODER, "stop=[\"\\nObservation:\"]", "stop=STOP", "stop=STOP", "a list of plain strings"),
    case(CODER, "template=template,", "template=template.strip(),", "template=template.strip(),", "`<prompt> = CustomPromptTemplate(template=template,"),
    case(CODER, "CustomPythonAstREPLTool(callbacks", "PythonAstREPLTool(callbacks", "PythonAstREPLTool(callbacks", "`<tool> = CustomPythonAstREPLTool(callbacks=handlers)`"),
    // --- limits and refusal
    case(CODER, "MAX_TURNS = 1", "MAX_TURNS = int('1')", "MAX_TURNS = int('1')", "a whole number, at least 1"),
    case(CODER, "MAX_TURNS = 1", "MAX_TURNS = 0", "MAX_TURNS = 0", "a whole number, at least 1"),
    case(CODER, "return \"The cannon", "return f\"The cannon", "return f\"The cannon", "`return <text>`"),
    case(CODER, "self.max_turns >= MAX_TURNS", "self.max_turns > MAX_TURNS", "self.max_turns > MAX_TURNS", "`if self.max_turns >= MAX_TURNS: ...`"),
    case(CODER_CLASS, "max_iterations=4", "max_iterations=None", "max_iterations=None", "`max_iterations=<number>`"),
    case(CODER_CLASS, "max_iterations=self.max_iterations)", "max_iterations=2)", "max_iterations=2)", "`self.agent = create_agent("),
    case(REACT_CLASS, "        self.llm =", "        self.max_iterations = 3\n        self.llm =", "self.max_iterations = 3", "`self.llm = self.get_model("),
    case(REACT_CLASS, "        return llm", "        llm = llm.bind(top_p=1)\n        return llm", "def get_model", "nothing in `get_model` that may change `llm`"),
    case(CODER_CLASS, "        return llm", "        llm.temperature = 0\n        return llm", "def get_model", "nothing in `get_model` that may change `llm`"),
    case(MAIN, "ReactAgent(model_name=model_name,", "ReactAgent(max_iterations=3, model_name=model_name,", "ReactAgent(max_iterations=3", "`return ReactAgent("),
    case(MAIN, "from agents.coder_agent", "from agents.other_agent", "from agents.other_agent", "`from agents.coder_agent import BaseAgent`"),
    // --- system prompt and input
    case(REACT_CLASS, "You are the navigator", "You are the cook", "You are the cook", "the system prompt of agents/coder_agent.py"),
    case(REACT_CLASS, "Charts to load", "Maps to load", "Maps to load", "the same input as in agents/coder_agent.py"),
    case(CODER_CLASS, "{dataset_paths}", "{dataset_paths[0]}", "{dataset_paths[0]}", "an f-string with the holes `{dataset_paths}`, `{query}`"),
    case(CODER_CLASS, "        try:\n            answer", "        query = query.strip()\n        try:\n            answer", "query = query.strip()", "`try: ...`"),
    case(ORDERS, "charts += \" shows \" + chart[\"description\"]", "charts += \" shows \" + chart[\"description\"].strip()", ".strip()", "`<data> += <text> + <dataset>[\"description\"]`"),
    case(ORDERS, "        charts += \". Marks:\"\n", "", "for mark in", "`<data> += <text>`"),
    case(ORDERS, "    orders += f\"", "    orders = orders.strip()\n    orders += f\"", "orders = orders.strip()", "`<query> += <f-string>`"),
    case(ORDERS, "    return orders, charts", "    if charts:\n        return charts, charts\n    return orders, charts", "if charts:", "`return <query>, <data>`"),
    case(ORDERS, "{nl_query}", "{nl_query.strip()}", "{nl_query.strip()}", "an f-string with the holes `{nl_query}`"),
    case(ORDERS, "metadata[\"domain_knowledge\"]", "metadata.get(\"domain_knowledge\", \"\")", "metadata.get", "`<query> += <text> + metadata[\"domain_knowledge\"] + <text>`"),
    case(ORDERS, "provide_workflow_tags:", "provide_domain_knowledge:", "    if provide_domain_knowledge:\n        orders += \"Course", "`if provide_workflow_tags: ...`"),
    case(ORDERS, "print(f\"orders: {orders}\")", "print(orders.strip())", "print(orders.strip())", "no further statement that may change `orders`"),
    case(ORDERS, "\"State what you believe, \"", "\"State \" f\"what\"", "\"State \" f\"what\"", "`<query> += <text>`"),
    case(ORDERS, "query=orders)", "query=charts)", "query=charts)", "`agent.generate(dataset_paths=datasets, query=<query>)`"),
    case(ORDERS, "    agent.generate", "    orders += '!'\n    agent.generate", "orders += '!'", "`agent.generate("),
    case(ORDERS, "def get_dv_query_for_synth(metadata", "def get_dv_query_for_synth(about", "def get_dv_query_for_synth(about", "a parameter `metadata`"),
    // --- judge
    case(HELPERS, "\"content\": usr_msg", "\"content\": usr_msg.strip()", "usr_msg.strip()", "`return [{\"role\": \"system\", \"content\": <text>}, {\"role\": \"user\", \"content\": usr_msg}]`"),
    case(HELPERS, "def create_prompt", "OPENAI_GEN_HYP[\"seed\"] = 7\ndef create_prompt", "OPENAI_GEN_HYP[\"seed\"] = 7", "no further statement that changes `OPENAI_GEN_HYP`"),
    case(HELPERS, "def create_prompt", "def f():\n    OPENAI_GEN_HYP.clear()\ndef create_prompt", "def f():", "no further statement that changes `OPENAI_GEN_HYP`"),
    case(HELPERS, "def create_prompt", "tune(OPENAI_GEN_HYP)\ndef create_prompt", "tune(OPENAI_GEN_HYP)", "no further statement that changes `OPENAI_GEN_HYP`"),
    case(HELPERS, "\"temperature\": 1.", "\"temperature\": HOT", "HOT", "a constant"),
    case(HELPERS, "max_retry=3", "max_retry=MANY", "max_retry=MANY", "`max_retry=<number>`"),
    case(HELPERS, "**OPENAI_GEN_HYP\n", "**OPENAI_GEN_HYP, seed=1\n", "client.chat.completions.create", "`<response> = client.chat.completions.create("),
    case(HELPERS, ".strip(\"```json\")", "", "text = reply", "`<output> = <response>.choices[0].message.content.strip()"),
    case(HELPERS, "            if verbose:", "            return {}\n            if verbose:", "return {}", "no further statement that leaves the function or loop"),
    case(REQUESTS, "except Exception as error:\n            print(error)", "except Exception as reply:\n            print(reply)", "except Exception as reply", "another name than `reply`"),
    case(REQUESTS, "limit = 3", "limit = 5", "limit = 5", "`<tries> = 3`"),
    case(REQUESTS, "@retry(", "@again(", "@again(", "`retry`"),
    case(REQUESTS, "@retry(wait=wait_random_exponential(min=1, max=60), stop=stop_after_attempt(6))\n", "", "def run_chatgpt_query_multi_turn", "1 decorators"),
    case(REQUESTS, "{\"type\": \"json_object\"}", "{\"type\": KIND}", "KIND", "a constant"),
    case(JUDGE, "from eval.lm_utils import", "from eval.old_utils import", "from eval.old_utils import", "`from eval.lm_utils import run_chatgpt_query_multi_turn`"),
    case("utils/openai_semantic_gen_prompts.py", "harbour_features =", "get_response =", "get_response =", "no definition of `get_response`"),
    case(JUDGE, "\"hypothesis\": \"%s\"", "\"hypothesis\": \"%d\"", "order = f\"\"\"", "only `%s` and `%%`, not `%d`"),
    case(JUDGE, ", \"workflow\": \"%s\"", "", "order = f\"\"\"", "as many `%s` as there are values"),
    case(JUDGE, "\"workflow\": \"%s\"", "\"workflow\": \"%s\", {hypo}", "%s\", {hypo}", "an f-string without holes"),
    case(JUDGE, "(charts, hypo, workflow)", "(charts, workflow, hypo)", "(charts, workflow, hypo)", "`<prompt> = <template> % (<datasets>, hypo, workflow)`"),
    case(JUDGE, "max_retry=1", "max_retry=tries", "max_retry=tries", "`<result> = get_response("),
    case(JUDGE, "charts: {charts}", "charts: {str(charts)}", "{str(charts)}", "an f-string with the holes `{charts}`, "),
    case(JUDGE, "        inquiry = \"\"\"Same waters?\"\"\"", "        inquiry = query", "inquiry = query", "`<question> = <text>`"),
    case(JUDGE, "    talk.append(", "    talk.append(1)\n    talk.append(", "talk.append(1)", "`<messages>.append({\"role\": \"user\", \"content\": <user>})`"),
    case(JUDGE, "messages=talk,", "messages=talk[:1],", "messages=talk[:1],", "`<response> = run_chatgpt_query_multi_turn("),
    case(JUDGE, "{gold_context}\",", "{gold_context!s}\",", "{gold_context!s}", "a hole without conversion and format"),
    case(JUDGE, "    return verdict.get(\"match\", False)", "    return verdict[\"match\"]", "return verdict[\"match\"]", "`return <output>.get(\"match\", False)`"),
    case(JUDGE, "if \"None\" in [", "if \"none\" in [", "if \"none\" in [", "`if \"None\" in [gold_context, pred_context]: ...`"),
    case(JUDGE, "{\"text\": gold_hypo,", "{\"text\": gen_hypo,", "{\"text\": gen_hypo, \"context\"", "a dict with `\"text\": gold_hypo` and constants"),
    case(JUDGE, "{\"text\": gen_hypo, \"context\": \"None\"", "{\"text\": gen_hypo, \"context\": \"\"", "\"context\": \"\", \"variables\"", "the same stand-in as for the gold hypothesis"),
    case(JUDGE, "{gen_subh['text']}", "{gen_subh['title']}", "{gen_subh['title']}", "an f-string with the holes `{gold_subh['text']}`"),
    case(JUDGE, "chart[\"columns\"]] if use_column_metadata", "chart[\"columns\"][:9]] if use_column_metadata", "[:9]", "`<datasets>.append({ ...`"),
];

#[test]
fn an_altered_source_is_refused_with_file_line_and_construct() {
    let mut wrong = String::new();
    for Case { file, from, to, at, expected } in CASES {
        let copy = Copy::new();
        copy.replace(file, from, to);
        let text = fs::read_to_string(copy.file(file)).unwrap();
        let place = text.find(at).unwrap_or_else(|| panic!("{file} lacks {at:?}"));
        let expected_line = 1 + text[..place].matches('\n').count();
        let found = match pack::extract(&copy.root()) {
            Err(Error::Unexpected { file: found, line, expected: construct, .. })
                if found == *file && line == expected_line && construct.starts_with(expected) =>
            {
                continue;
            }
            Err(error) => error.to_string(),
            Ok(_) => "no error".to_owned(),
        };
        let _ = writeln!(
            wrong,
            "{from:?} -> {to:?}\n  wanted {file}:{expected_line}: expected {expected}\n  found  {found}"
        );
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_not_there_is_named() {
    let cases = [
        (CODER, "template = ", "model = ", "expected `template = ...`, a plain assignment, found no such thing"),
        (ORDERS, "def get_dv_query_for_synth", "def get_query", "expected `def get_dv_query_for_synth`, found no such"),
        (REACT_CLASS, "class ReactAgent", "class Agent", "agents/react_agent.py: expected `class ReactAgent`"),
        (CODER_CLASS, "def generate", "def create", "expected `class BaseAgent` with `def generate`"),
        (CODER_CLASS, "api_key=api_key, **kwargs", "api_key=api_key, temperature=0, **kwargs", "`<llm> = ChatOpenAI("),
        (
            JUDGE,
            "        gen_parts[\"sub_hypo\"] =",
            "        parts =",
            "` twice in `def run_eval_gold_vs_gen_NL_hypo_workflow`",
        ),
        (JUDGE, "\"score\": 1.0,", "", "` once in `def run_eval_gold_vs_gen_NL_hypo_workflow`"),
    ];
    for (file, from, to, expected) in cases {
        let copy = Copy::new();
        copy.replace(file, from, to);
        let error = pack::extract(&copy.root()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(file), "{from}: `{error}` lacks `{expected}`");
    }
}

#[test]
fn files_that_are_no_python_are_named() {
    let check = |damage: &dyn Fn(&Copy), expected: &str| {
        let copy = Copy::new();
        damage(&copy);
        let error = pack::extract(&copy.root()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "`{error}` is not `{expected}`");
    };
    check(&|copy| fs::remove_file(copy.file(JUDGE)).unwrap(), "eval/new_eval.py: not found in the checkout");
    check(
        &|copy| copy.replace(ORDERS, "    charts = \"\"", "    charts = \"\"\"\""),
        "utils/autonomous_single_agent.py:6: ",
    );
    check(&|copy| fs::write(copy.file(MAIN), b"a = 1\nb = '\xff'\n").unwrap(), "discovery_agent.py:2: not UTF-8");
    check(
        &|copy| fs::write(copy.file(MAIN), "x".repeat(300 << 10)).unwrap(),
        "discovery_agent.py: larger than 256 KiB",
    );
}

#[test]
fn absurdly_deep_source_is_refused_not_fatal() {
    let deep = [
        "(".repeat(100_000),
        format!("x = {}", "-".repeat(100_000)),
        format!("x = a{}", ".b".repeat(50_000)),
        format!("x = {}", "1 + ".repeat(50_000)),
        (0..200).map(|depth| format!("{}if a:\n", " ".repeat(depth))).collect(),
    ];
    for text in deep {
        let copy = Copy::new();
        fs::write(copy.file(CODER), text).unwrap();
        let error = pack::extract(&copy.root()).unwrap_err().to_string();
        assert!(error.starts_with("agents/coder_utils.py: ") && error.contains(" of "), "{error}");
    }
}

#[test]
fn layout_comments_and_local_names_do_not_matter() {
    let original = pack::extract(&fixture::place()).unwrap();
    let copy = Copy::new();
    for file in pack::FILES {
        let text = fs::read_to_string(copy.file(file)).unwrap();
        let text = text.replace("orders", "command").replace("inquiry", "question_text").replace("log +=", "log   +=");
        fs::write(copy.file(file), format!("\u{feff}# a comment\n{}", text.replace('\n', "\r\n"))).unwrap();
    }
    let changed = pack::extract(&copy.root()).unwrap();
    assert_eq!(changed.hash(), original.hash());
    assert_ne!(changed.source.files, original.source.files);
}

#[test]
fn the_fixture_gives_its_own_wording() {
    let pack = pack::extract(&fixture::place()).unwrap();
    let coder = &pack.agent.coder;
    assert_eq!((coder.max_iterations, coder.max_executions), (4, Some(1)));
    assert_eq!(coder.refusal.as_deref(), Some("The cannon has one ball, and it is fired. Answer with what you know."));
    assert_eq!((pack.agent.react.max_iterations, pack.agent.react.max_executions), (9, None));
    assert_eq!(pack.agent.react.stop, ["\nObservation:"]);
    assert_eq!(coder.observation.render(&[("observation", "{x}\n")]), "\nObservation: {x}\n\nNext: ");
    assert_eq!(pack.task_input.synth.closing, "State what you believe, and how sure you are.");
    let judge = &pack.judge;
    assert_eq!((judge.sub_hypotheses.attempts, judge.context.attempts, judge.relation.attempts), (1, 3, 1));
    let params = |params: &serde_json::Map<String, serde_json::Value>| serde_json::to_string(params).unwrap();
    assert_eq!(
        params(&judge.context.params),
        r#"{"temperature":1.0,"max_tokens":2048,"top_p":1.0,"frequency_penalty":0,"presence_penalty":0}"#
    );
    assert_eq!(
        params(&judge.variables.params),
        r#"{"response_format":{"type":"json_object"},"temperature":0,"max_tokens":120,"top_p":1.0,"frequency_penalty":0,"presence_penalty":0}"#
    );
    assert_eq!(
        params(&judge.fallback),
        r#"{"text":null,"context":"None","variables":[],"relations":"","explanation":"one piece"}"#
    );
    assert!(judge.variables.question.as_ref().unwrap().contains("{{\n"), "doubled braces stay in a plain string");
    let segment = judge.sub_hypotheses.user.render(&[("datasets", "[]"), ("hypothesis", "%s"), ("workflow", "w")]);
    assert!(
        segment.contains(r#"At least 90% of it must be covered.         { "datasets": [], "hypothesis": "%s""#),
        "{segment}"
    );
}
