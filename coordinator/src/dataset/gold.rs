//! Gold hypotheses. A type of their own, so that they cannot slip into what a worker, a log or a browser gets: it
//! neither serialises nor prints.

use std::{collections::HashMap, fmt};

use argosy_shared::id::TaskId;

/// The gold hypothesis of one task.
#[derive(Clone, PartialEq, Eq)]
pub struct Gold(String);

impl Gold {
    pub(super) fn new(hypothesis: String) -> Self {
        Self(hypothesis)
    }

    /// The text, for the judge and the run directory only.
    #[must_use]
    pub fn hypothesis(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Gold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gold({} characters)", self.0.chars().count())
    }
}

/// The gold hypotheses of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Golds(HashMap<TaskId, Gold>);

impl Golds {
    /// The gold of a task. Every task of a dataset has one.
    #[must_use]
    pub fn get(&self, task: &TaskId) -> Option<&Gold> {
        self.0.get(task)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(TaskId, Gold)> for Golds {
    fn from_iter<I: IntoIterator<Item = (TaskId, Gold)>>(golds: I) -> Self {
        Self(golds.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_does_not_print() {
        let golds: Golds = [(TaskId::from("t"), Gold::new("secret".to_owned()))].into_iter().collect();
        assert_eq!(format!("{golds:?}"), r#"Golds({TaskId("t"): Gold(6 characters)})"#);
    }
}
