//! Task input: upstream's wording around one task's datasets and question.

use serde::{Deserialize, Serialize};

use super::{Hints, Kind, Task};
use crate::prompts::{Part, PromptPack, QueryPrompts, Template};

/// A task input that still lacks the list of data paths, which only the sandbox knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputParts {
    /// Upstream's agent system prompt.
    pub system_prompt: String,
    /// Text before the Python list of paths.
    pub before_paths: String,
    /// Text after it.
    pub after_paths: String,
}

impl InputParts {
    /// The whole input for the given paths, in the order of the task's datasets.
    #[must_use]
    pub fn with_paths(&self, paths: &[String]) -> String {
        let list = crate::pyrepr::str_list(paths);
        format!("{}{list}{}", self.before_paths, self.after_paths)
    }
}

/// What happens to a hint that the metadata leaves blank or out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlankHints {
    /// The prompt stays as it is without the hint. The default, and how AgentCompass documents it.
    #[default]
    Unchanged,
    /// A blank hint is printed with its heading, as upstream does. Upstream fails with a `KeyError` where the key is
    /// missing; here the prompt then stays unchanged, since there is nothing to print.
    Upstream,
}

/// The input of `task`. Hints concern real splits only.
#[must_use]
pub fn input_parts(pack: &PromptPack, task: &Task, hints: Hints, blank: BlankHints) -> InputParts {
    let query = match task.split.kind() {
        Kind::Real => {
            let shown = |hint: &Option<String>, wanted: bool| {
                let hint = hint.as_deref().filter(|_| wanted)?;
                (blank == BlankHints::Upstream || !hint.trim().is_empty()).then(|| hint.to_owned())
            };
            let knowledge = shown(&task.domain_knowledge, hints.domain_knowledge);
            let tags = shown(&task.workflow_tags, hints.workflow_tags);
            query(&pack.task_input.real, task, knowledge.as_deref(), tags.as_deref())
        }
        Kind::Synth => query(&pack.task_input.synth, task, None, None),
    };
    let mut parts = pack.task_input.input.parts().split(|part| *part == Part::field("dataset_paths"));
    let mut side = || {
        let parts = parts.next().unwrap_or_default();
        Template::new(parts.iter().cloned()).render(&[("query", &query)])
    };
    InputParts { system_prompt: pack.agent.system_prompt.clone(), before_paths: side(), after_paths: side() }
}

/// Datasets with their columns, intermediate hypotheses, question, hints, closing sentence; nothing between them.
fn query(prompts: &QueryPrompts, task: &Task, knowledge: Option<&str>, tags: Option<&str>) -> String {
    let mut text = String::new();
    for dataset in &task.datasets {
        text += &prompts.dataset.render(&[("name", &dataset.name), ("description", &dataset.description)]);
        for column in &dataset.columns {
            text += &prompts.column.render(&[("name", &column.name), ("description", &column.description)]);
        }
    }
    if let Some(intermediate) = &prompts.intermediate {
        for hypothesis in &task.intermediate {
            text += &intermediate.render(&[("text", hypothesis)]);
        }
    }
    text += &prompts.query.render(&[("nl_query", &task.question)]);
    for (template, field, hint) in
        [(&prompts.domain_knowledge, "domain_knowledge", knowledge), (&prompts.workflow_tags, "workflow_tags", tags)]
    {
        if let (Some(template), Some(hint)) = (template, hint) {
            text += &template.render(&[(field, hint)]);
        }
    }
    text + &prompts.closing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        prompts::sample::pack,
        task::{Blob, Column, Dataset, Split},
    };

    fn task(split: Split) -> Task {
        let column = |name: &str| Column { name: name.to_owned(), description: format!("{name} {{x}}") };
        Task {
            id: Task::make_id(split, "harbour", 0, 1),
            split,
            dataset_dir: "harbour".to_owned(),
            metadata_id: 0,
            query_id: 1,
            domain: "trade".to_owned(),
            question: "Why?".to_owned(),
            question_type: "general".to_owned(),
            datasets: vec![Dataset {
                name: "a.csv".to_owned(),
                description: " ships ".to_owned(),
                columns: vec![column("c"), column("d")],
                blob: Blob { sha256: String::new(), bytes: 0 },
            }],
            intermediate: vec!["so".to_owned()],
            domain_knowledge: Some("tides".to_owned()),
            workflow_tags: Some(" ".to_owned()),
        }
    }

    fn after(split: Split, knowledge: bool, tags: bool, blank: BlankHints) -> String {
        let hints = Hints { domain_knowledge: knowledge, workflow_tags: tags };
        input_parts(&pack(), &task(split), hints, blank).after_paths
    }

    #[test]
    fn pieces_are_joined_without_separators() {
        let expected = " a.csv is  ships c=c {x};d=d {x};so,? Why?Answer.";
        assert_eq!(after(Split::RealTest, false, false, BlankHints::Unchanged), expected);
    }

    #[test]
    fn hints_stand_before_the_closing_sentence() {
        let text = after(Split::RealTrain, true, false, BlankHints::Unchanged);
        assert!(text.ends_with("? Why? Know: tidesAnswer."), "{text}");
    }

    #[test]
    fn a_blank_hint_changes_nothing_unless_as_upstream() {
        let without = after(Split::RealTest, false, false, BlankHints::Unchanged);
        assert_eq!(after(Split::RealTest, false, true, BlankHints::Unchanged), without);
        let upstream = after(Split::RealTest, false, true, BlankHints::Upstream);
        assert!(upstream.ends_with("? Why? Tags:  Answer."), "{upstream}");
    }

    #[test]
    fn synthetic_tasks_have_no_hints_and_no_intermediate_hypotheses() {
        let expected = " a.csv is  ships c=c {x};d=d {x};? Why?Answer.";
        assert_eq!(after(Split::SynthDev, true, true, BlankHints::Upstream), expected);
    }
}
