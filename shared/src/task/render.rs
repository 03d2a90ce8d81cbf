//! Task input: upstream's wording around one task's datasets and question.

use serde::{Deserialize, Serialize};

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
