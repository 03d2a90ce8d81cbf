//! The judge: prompts, system messages, sampling constants, attempts.

use argosy_shared::prompts::{JudgeCall, JudgePrompts, Part, Template};
use rustpython_ruff_python_ast::Expr;
use rustpython_ruff_text_size::Ranged as _;
use serde_json::{Map, Value};

use super::{
    Error, Files,
    shape::{Captures, Shape},
    source::Source,
    text,
};

const CREATE_PROMPT: &str = r#"
def create_prompt(usr_msg):
    return [{"role": "system", "content": TEXT_system}, {"role": "user", "content": usr_msg}]
"#;

const GET_RESPONSE: &str = r#"
def get_response(client, prompt, max_retry=NUMBER_attempts, model=TEXT_model, verbose=False):
    NAME_try = 0
    while NAME_try < max_retry:
        NAME_response = client.chat.completions.create(model=model, messages=create_prompt(prompt), **OPENAI_GEN_HYP)
        NAME_output = NAME_response.choices[0].message.content.strip().strip("```json").strip("```")
        try:
            NAME_json = json.loads(NAME_output)
            return NAME_json
        except ValueError:
            ...
            NAME_try += 1
            ...
    return None
"#;

const QUERY_MULTI_TURN: &str = r#"
@retry(wait=ANY_wait, stop=ANY_stop)
def run_chatgpt_query_multi_turn(messages, model_name=TEXT_model, max_tokens=NUMBER_tokens, temperature=NUMBER_temperature, json_response=False):
    NAME_response = None
    NAME_tries = 3
    NAME_try = 0
    while NAME_try < NAME_tries:
        NAME_try += 1
        try:
            NAME_client = OpenAI()
            if json_response:
                NAME_response = NAME_client.chat.completions.create(model=model_name, response_format=ANY_format, messages=messages, **OPENAI_GEN_HYP)
            else:
                NAME_response = NAME_client.chat.completions.create(model=model_name, messages=messages, **OPENAI_GEN_HYP)
            break
        except Exception:
            time.sleep(2)
    return NAME_response
"#;

const ASK: &str = r#"
def ask_dimension_question(query, gold_hypo, gold_workflow, gen_hypo, gen_workflow, dataset_meta, llm_used, dimension, dataset_type, use_column_metadata=True):
    NAME_question = ""
    NAME_answer = ""
    NAME_score = NUMBER_score
    if dimension == "var":
        NAME_score = ANY_sentinel
    NAME_tokens = NUMBER_tokens
    NAME_retries = 1
    NAME_json = False
    NAME_messages = [{"role": "system", "content": TEXT_system}]
    if dimension == "context":
        NAME_question = TEXT_context
    elif dimension == "var":
        NAME_question = TEXT_variables
        NAME_tokens = NUMBER_variables_tokens
        NAME_retries = 1
        NAME_json = True
    elif dimension == "rel":
        NAME_question = TEXT_relation
        NAME_tokens = NUMBER_relation_tokens
        NAME_retries = 1
        NAME_json = True
    NAME_datasets = prepare_dataset_metadata_json(dataset_meta, dataset_type=dataset_type, use_column_metadata=use_column_metadata)
    NAME_user = FORMAT_user
    NAME_messages.append({"role": "user", "content": NAME_user})
    for NAME_retry in range(NAME_retries):
        NAME_response = run_chatgpt_query_multi_turn(messages=NAME_messages, model_name=llm_used, max_tokens=NAME_tokens, temperature=NUMBER_temperature, json_response=NAME_json)
        if NAME_response != None:
            break
    if NAME_response != None:
        NAME_answer = NAME_response.choices[0].message.content.strip()
        NAME_score = get_score_from_answer(type=dimension, answer=NAME_answer)
    return NAME_question, NAME_answer, NAME_score
"#;

const METADATA: &str = r#"
def prepare_dataset_metadata_json(dataset_meta, dataset_type, use_column_metadata=True):
    if dataset_meta == None:
        return ANY_nothing
    NAME_datasets = []
    if dataset_type == "real":
        for NAME_dataset in dataset_meta["datasets"]:
            NAME_datasets.append({
                "dataset_description": NAME_dataset["description"],
                "columns": [{"name": NAME_column["name"], "description": NAME_column["description"]} for NAME_column in NAME_dataset["columns"]["raw"]] if use_column_metadata else [],
            })
    else:
        for NAME_dataset in dataset_meta["datasets"]:
            NAME_datasets.append({
                "dataset_description": NAME_dataset["description"],
                "columns": [{"name": NAME_column["name"], "description": NAME_column["description"]} for NAME_column in NAME_dataset["columns"]] if use_column_metadata else [],
            })
    return NAME_datasets
"#;

const SUB_HYPOTHESES: &str = r#"
def get_sub_hypotheses(query, hypo, workflow, dataset_meta, llm_used, dataset_type, use_column_metadata=True):
    NAME_client = OpenAI()
    NAME_template = FORMAT_template
    NAME_datasets = prepare_dataset_metadata_json(dataset_meta, dataset_type, use_column_metadata=use_column_metadata)
    NAME_prompt = NAME_template % (NAME_datasets, hypo, workflow)
    NAME_result = get_response(NAME_client, NAME_prompt, model=llm_used, max_retry=NUMBER_attempts)
    if NAME_result != None:
        ...
    else:
        NAME_result = {"sub_hypo": []}
    NAME_result["full_hypo"] = hypo
    return NAME_result
"#;

const CONTEXT: &str = r#"
def match_context_with_gpt(gold_hyp, gold_context, pred_hyp, pred_context, model=TEXT_model):
    NAME_prompt = FORMAT_prompt
    NAME_client = OpenAI()
    NAME_output = get_response(NAME_client, NAME_prompt, model=model)
    return NAME_output.get("match", False)
"#;

const IS_MATCHING: &str = r#"
def is_matching_context(gold_hyp, gold_context, pred_hyp, pred_context, llm_used):
    if gold_context == pred_context:
        return True
    if "None" in [gold_context, pred_context]:
        return False
    return match_context_with_gpt(gold_hyp, gold_context, pred_hyp, pred_context, model=llm_used)
"#;

const EVALUATION: &str = "run_eval_gold_vs_gen_NL_hypo_workflow";
const FALLBACK: &str = r#"NAME_segments["sub_hypo"] = [ANY_fallback]"#;
const PAIR: &str =
    r#"NAME_contexts[ANY_pair] = {"question": FORMAT_question, "answer": ANY_answer, "score": ANY_score}"#;

/// Reads all of the judge's texts and parameters.
pub(super) fn extract(files: &Files) -> Result<JudgePrompts, Error> {
    let source = files.get("eval/new_eval.py");
    let imported = check_imports(files, source)?;
    let helpers = imported.helpers;
    let system = Shape::new(CREATE_PROMPT).find(helpers)?.text(helpers, "TEXT_system")?;
    let response = Shape::new(GET_RESPONSE).find(helpers)?;
    let sampling = text::object(helpers, helpers.assigned("OPENAI_GEN_HYP")?)?;
    let asked =
        |user, attempts| JudgeCall { system: system.clone(), user, question: None, params: sampling.clone(), attempts };

    let segment = Shape::new(SUB_HYPOTHESES).find(source)?;
    let template = segment.expression("FORMAT_template");
    let fields = ["datasets", "hypothesis", "workflow"];
    let segment_user = text::percent(source, template, &without_holes(source, template)?, &fields)?;
    let context = Shape::new(CONTEXT).find(source)?;
    Shape::new(IS_MATCHING).find(source)?;
    let context_holes = ["gold_hyp", "gold_context", "pred_hyp", "pred_context"].map(|name| (name, name));
    let context_user = text::f_string(source, context.expression("FORMAT_prompt"), &context_holes)?;
    Shape::new(METADATA).find(source)?;
    let pairs = pair_calls(source, imported.requests)?;
    Ok(JudgePrompts {
        sub_hypotheses: asked(segment_user, text::count(source, segment.expression("NUMBER_attempts"))?),
        context: asked(context_user, text::count(helpers, response.expression("NUMBER_attempts"))?),
        variables: pairs.variables,
        relation: pairs.relation,
        pair_question: pair_question(source)?,
        fallback: fallback(source)?,
    })
}

struct Imported<'f> {
    helpers: &'f Source,
    requests: &'f Source,
}

/// Makes sure that the functions of the judge are those of the two modules read here.
fn check_imports<'f>(files: &'f Files, source: &Source) -> Result<Imported<'f>, Error> {
    let (helpers, requests) = (files.get("utils/openai_helpers.py"), files.get("eval/lm_utils.py"));
    helpers.check_star_imports(&[])?;
    requests.check_star_imports(&[])?;
    source.check_star_imports(&["utils.openai_semantic_gen_prompts"])?;
    let everything = files.get("utils/openai_semantic_gen_prompts.py");
    everything.check_star_imports(&[])?;
    everything.check_binds_none_of(&["get_response", "run_chatgpt_query_multi_turn", "OpenAI"])?;
    source.check_import("utils.openai_helpers", "get_response")?;
    source.check_import("eval.lm_utils", "run_chatgpt_query_multi_turn")?;
    source.check_import("openai", "OpenAI")?;
    requests.check_import("openai", "OpenAI")?;
    Ok(Imported { helpers, requests })
}

struct Pairs {
    variables: JudgeCall,
    relation: JudgeCall,
}

/// The two questions about a matched pair.
fn pair_calls(source: &Source, requests: &Source) -> Result<Pairs, Error> {
    let ask = Shape::new(ASK).find(source)?;
    let request = Shape::new(QUERY_MULTI_TURN).find(requests)?;
    let mut params = Map::new();
    params.insert("response_format".to_owned(), text::constant(requests, request.expression("ANY_format"))?);
    params.extend(text::object(requests, requests.assigned("OPENAI_GEN_HYP")?)?);
    let holes = [
        (ask.name("NAME_datasets"), "datasets_json"),
        ("query", "query"),
        ("gold_hypo", "gold_hypo"),
        ("gold_workflow", "gold_workflow"),
        ("gen_hypo", "gen_hypo"),
        ("gen_workflow", "gen_workflow"),
        (ask.name("NAME_question"), "dimension_question"),
    ];
    let user = text::f_string(source, ask.expression("FORMAT_user"), &holes)?;
    let call = |captures: &Captures<'_>, hole| -> Result<JudgeCall, Error> {
        Ok(JudgeCall {
            system: captures.text(source, "TEXT_system")?,
            user: user.clone(),
            question: Some(captures.text(source, hole)?),
            params: params.clone(),
            // The shape allows one try only.
            attempts: 1,
        })
    };
    Ok(Pairs { variables: call(&ask, "TEXT_variables")?, relation: call(&ask, "TEXT_relation")? })
}

/// The text recorded for a matched pair.
fn pair_question(source: &Source) -> Result<Template, Error> {
    let shape = Shape::new(PAIR);
    let found = shape.find_all(source, source.function(EVALUATION)?);
    let [pair] = found.as_slice() else {
        let expected = format!("`{}` once in `def {EVALUATION}`", shape.describe());
        return Err(Error::Absent { file: source.path, expected });
    };
    let holes = [
        ("gold_subh['text']", "gold_text"),
        ("gold_subh['context']", "gold_context"),
        ("gen_subh['text']", "gen_text"),
        ("gen_subh['context']", "gen_context"),
    ];
    text::f_string(source, pair.expression("FORMAT_question"), &holes)
}

/// The stand-in for a hypothesis that could not be segmented, which must be the same on both sides.
fn fallback(source: &Source) -> Result<Map<String, Value>, Error> {
    let shape = Shape::new(FALLBACK);
    let found = shape.find_all(source, source.function(EVALUATION)?);
    let [gold, generated] = found.as_slice() else {
        let expected = format!("`{}` twice in `def {EVALUATION}`", shape.describe());
        return Err(Error::Absent { file: source.path, expected });
    };
    let gold = fallback_object(source, gold.expression("ANY_fallback"), "gold_hypo")?;
    let at = generated.expression("ANY_fallback");
    if fallback_object(source, at, "gen_hypo")? != gold {
        return Err(source.unexpected(at.range(), "the same stand-in as for the gold hypothesis"));
    }
    Ok(gold)
}

/// `{"text": <hypothesis>, ...constants}` with null in the place of the hypothesis.
fn fallback_object(source: &Source, expression: &Expr, hypothesis: &str) -> Result<Map<String, Value>, Error> {
    let expected = format!("a dict with `\"text\": {hypothesis}` and constants");
    let Expr::Dict(dict) = expression else { return Err(source.unexpected(expression.range(), expected)) };
    let mut object = Map::new();
    for item in &dict.items {
        let Some(key) = &item.key else { return Err(source.unexpected(expression.range(), expected)) };
        let key = text::plain(source, key)?;
        let value = match &item.value {
            Expr::Name(name) if key == "text" && name.id.as_str() == hypothesis => Value::Null,
            value if key != "text" => text::constant(source, value)?,
            value => return Err(source.unexpected(value.range(), expected)),
        };
        object.insert(key, value);
    }
    if object.contains_key("text") { Ok(object) } else { Err(source.unexpected(expression.range(), expected)) }
}

/// The text of an f-string that has only doubled braces.
fn without_holes(source: &Source, expression: &Expr) -> Result<String, Error> {
    match text::f_string(source, expression, &[])?.parts() {
        [Part::Text(text)] => Ok(text.clone()),
        _ => Err(source.unexpected(expression.range(), "an f-string without holes")),
    }
}
