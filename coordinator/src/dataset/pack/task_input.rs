//! The task input: a fixed sentence around the data paths and the query text.

use argosy_shared::prompts::{Part, QueryPrompts, TaskInputPrompts, Template};
use rustpython_ruff_text_size::Ranged as _;

use super::{
    Error, Files,
    agents::GENERATE,
    shape::{Captures, Shape},
    source::Source,
    text,
};

const REAL: &str = r#"
def get_dv_query_for_real(metadata, provide_domain_knowledge, provide_workflow_tags, nl_query):
    NAME_data = ""
    for NAME_dataset in metadata["datasets"]:
        NAME_data += TEXT_before_name + NAME_dataset["name"]
        NAME_data += TEXT_before_description + NAME_dataset["description"]
        NAME_data += TEXT_before_columns
        for NAME_column in NAME_dataset["columns"]["raw"]:
            NAME_data += NAME_column["name"] + TEXT_after_column_name + NAME_column["description"] + TEXT_after_column
    NAME_query = NAME_data
    for NAME_hypothesis in metadata["hypotheses"]["intermediate"]:
        NAME_query += NAME_hypothesis["text"] + TEXT_after_intermediate
    NAME_query += FORMAT_query
    if provide_domain_knowledge:
        NAME_query += TEXT_before_knowledge + metadata["domain_knowledge"] + TEXT_after_knowledge
    if provide_workflow_tags:
        NAME_query += TEXT_before_tags + metadata["workflow_tags"] + TEXT_after_tags
    NAME_query += TEXT_closing
    return NAME_query, NAME_data
"#;

const SYNTH: &str = r#"
def get_dv_query_for_synth(metadata, nl_query):
    NAME_data = ""
    for NAME_dataset in metadata["datasets"]:
        NAME_data += TEXT_before_name + NAME_dataset["name"]
        NAME_data += TEXT_before_description + NAME_dataset["description"]
        NAME_data += TEXT_before_columns
        for NAME_column in NAME_dataset["columns"]:
            NAME_data += NAME_column["name"] + TEXT_after_column_name + NAME_column["description"] + TEXT_after_column
    NAME_query = NAME_data
    NAME_query += FORMAT_query
    NAME_query += TEXT_closing
    return NAME_query, NAME_data
"#;

const RUN: &str = r#"
def run_autonomous_single_agent_discoverybench(agent, datasets, metadata, nl_query, provide_domain_knowledge, provide_workflow_tags, dataset_type):
    if dataset_type == "real":
        NAME_query, NAME_data = get_dv_query_for_real(metadata, provide_domain_knowledge, provide_workflow_tags, nl_query)
    else:
        NAME_query, NAME_data = get_dv_query_for_synth(metadata, nl_query)
    agent.generate(dataset_paths=datasets, query=NAME_query)
"#;

/// Reads the pieces of the task input.
pub(super) fn extract(files: &Files) -> Result<TaskInputPrompts, Error> {
    let source = files.get("utils/autonomous_single_agent.py");
    source.check_star_imports(&[])?;
    files
        .get("discovery_agent.py")
        .check_import("utils.autonomous_single_agent", "run_autonomous_single_agent_discoverybench")?;
    Shape::new(RUN).find(source)?;
    let real = Shape::new(REAL).find(source)?;
    let synth = Shape::new(SYNTH).find(source)?;
    let around = |before, field, after| -> Result<Option<Template>, Error> {
        let parts = [Part::text(real.text(source, before)?), Part::field(field), Part::text(real.text(source, after)?)];
        Ok(Some(Template::new(parts)))
    };
    Ok(TaskInputPrompts {
        input: input(files)?,
        real: QueryPrompts {
            intermediate: Some(Template::new([
                Part::field("text"),
                Part::text(real.text(source, "TEXT_after_intermediate")?),
            ])),
            domain_knowledge: around("TEXT_before_knowledge", "domain_knowledge", "TEXT_after_knowledge")?,
            workflow_tags: around("TEXT_before_tags", "workflow_tags", "TEXT_after_tags")?,
            ..common(source, &real)?
        },
        synth: common(source, &synth)?,
    })
}

/// What both kinds of query have.
fn common(source: &Source, query: &Captures<'_>) -> Result<QueryPrompts, Error> {
    let text = |hole| query.text(source, hole).map(Part::Text);
    Ok(QueryPrompts {
        dataset: Template::new([
            text("TEXT_before_name")?,
            Part::field("name"),
            text("TEXT_before_description")?,
            Part::field("description"),
            text("TEXT_before_columns")?,
        ]),
        column: Template::new([
            Part::field("name"),
            text("TEXT_after_column_name")?,
            Part::field("description"),
            text("TEXT_after_column")?,
        ]),
        intermediate: None,
        query: text::f_string(source, query.expression("FORMAT_query"), &[("nl_query", "nl_query")])?,
        domain_knowledge: None,
        workflow_tags: None,
        closing: query.text(source, "TEXT_closing")?,
    })
}

/// The sentence around paths and query; both agents must have the same.
fn input(files: &Files) -> Result<Template, Error> {
    let holes = [("dataset_paths", "dataset_paths"), ("query", "query")];
    let read = |path, class, expected: Option<&Template>| -> Result<Template, Error> {
        let source = files.get(path);
        let captures = Shape::new(GENERATE).find_in_class(source, class)?;
        let expression = captures.expression("FORMAT_input");
        let template = text::f_string(source, expression, &holes)?;
        match expected {
            Some(expected) if *expected != template => {
                Err(source.unexpected(expression.range(), "the same input as in agents/coder_agent.py"))
            }
            _ => Ok(template),
        }
    };
    let coder = read("agents/coder_agent.py", "BaseAgent", None)?;
    read("agents/react_agent.py", "ReactAgent", Some(&coder))
}
