//! The agent's part without a script: looks at the first data file with nothing but Python's standard library, then
//! answers with what it saw.

use super::{
    draw::Draw,
    recognise::{AgentPrompt, file_name},
};
use argosy_shared::trajectory::PYTHON_TOOL;

/// The reply to an agent's turn.
pub(super) fn reply(prompt: &AgentPrompt<'_>, seed: u64) -> String {
    let mut draw = Draw::new(seed, "agent", prompt.input.as_bytes());
    // react looks two to four times, coder has one execution.
    let looks = if prompt.thinks { 2 + draw.below(3) } else { 1 };
    let Some(path) = prompt.paths.first() else {
        return "Final Answer: no data file was named, so no relationship can be stated.".to_owned();
    };
    match prompt.turn {
        turn if turn >= looks => answer(prompt, path, &mut draw),
        0 => action(prompt, "I should look at the data first.", &load(path)),
        1 => action(prompt, "The numeric columns come next.", MEANS),
        2 => action(prompt, "How do the first two of them move together?", CORRELATION),
        _ => action(prompt, "Once more the columns.", "header[:12]"),
    }
}

fn action(prompt: &AgentPrompt<'_>, thought: &str, code: &str) -> String {
    let thought = if prompt.thinks { format!("Thought: {thought}\n") } else { String::new() };
    format!("{thought}Action: {PYTHON_TOOL}\nAction Input: {code}")
}

/// Reads any file. Flat statements without functions or comprehensions: those do not see the tool's variables on
/// every Python version. Only the last statement's output becomes the observation.
fn load(path: &str) -> String {
    format!(
        "import csv\n\
         path = {path}\n\
         blob = open(path, 'rb').read(4000000)\n\
         text = blob.decode('utf-8', 'replace').replace(chr(0), ' ')\n\
         rows = list(csv.reader(text.splitlines())) if path.endswith(('.csv', '.txt', '.tsv')) else []\n\
         header = rows[0] if rows else []\n\
         print(len(blob), 'bytes,', max(len(rows) - 1, 0), 'rows, columns:', header[:12])"
    )
}

const MEANS: &str = "\
names = []
means = []
for index, name in enumerate(header):
    total = 0.0
    seen = 0
    for row in rows[1:500]:
        try:
            total += float(row[index])
            seen += 1
        except (ValueError, IndexError):
            pass
    if seen:
        names.append(name)
        means.append(round(total / seen, 3))
print(list(zip(names, means))[:6])";

/// With fewer than two numeric columns this is an IndexError, which is an observation like any other.
const CORRELATION: &str = "\
first = header.index(names[0])
second = header.index(names[1])
products = 0.0
for row in rows[1:500]:
    try:
        products += (float(row[first]) - means[0]) * (float(row[second]) - means[1])
    except (ValueError, IndexError):
        pass
print(names[:2], 'covary', 'positively' if products > 0 else 'negatively')";

/// A hypothesis about columns seen in the last observation.
fn answer(prompt: &AgentPrompt<'_>, path: &str, draw: &mut Draw) -> String {
    let file = file_name(path);
    let names = quoted(prompt.observation.unwrap_or_default());
    let trend = ["rises with", "falls with", "does not depend on", "has a U-shaped relationship with"][draw.below(4)];
    let hypothesis = if names.len() < 2 {
        format!("The observations in {file} follow one common trend. No pair of variables stands out.")
    } else {
        let first = draw.below(names.len());
        let second = (first + 1 + draw.below(names.len() - 1)) % names.len();
        format!(
            "Among all rows of {file}, {} {trend} {}. The effect is {} and statistically {}.",
            names[first],
            names[second],
            ["small", "moderate", "large"][draw.below(3)],
            ["significant", "not significant"][draw.below(2)],
        )
    };
    let thought = if prompt.thinks { "Thought: I have seen enough.\n" } else { "" };
    format!(
        "{thought}Final Answer: {hypothesis}\n\nSteps: loaded {file}; looked at its columns; stated the relationship."
    )
}

/// The texts between single quotes, at most a dozen. Paths are left out: they differ from run to run.
fn quoted(text: &str) -> Vec<&str> {
    let is_name = |name: &&str| !name.trim().is_empty() && name.len() < 120 && !name.starts_with('/');
    text.split('\'').skip(1).step_by(2).filter(is_name).take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt<'a>(turn: usize, observation: Option<&'a str>, thinks: bool) -> AgentPrompt<'a> {
        AgentPrompt { paths: vec!["'/w/a.csv'"], input: "a.csv\n. Why?".to_owned(), turn, observation, thinks }
    }

    #[test]
    fn coder_runs_once_and_then_answers_from_what_it_saw() {
        let first = reply(&prompt(0, None, false), 1);
        assert!(first.starts_with("Action: python_repl_ast\nAction Input: import csv\npath = '/w/a.csv'\n"), "{first}");
        let last = reply(&prompt(1, Some("90 bytes, 3 rows, columns: ['income', 'age']"), false), 1);
        assert!(last.starts_with("Final Answer: Among all rows of a.csv, "), "{last}");
        assert!(last.contains("income") && last.contains("age"), "{last}");
    }

    #[test]
    fn react_looks_two_to_four_times_and_thinks_aloud() {
        for seed in 0..20 {
            let answers: Vec<bool> =
                (0..6).map(|turn| reply(&prompt(turn, Some("x"), true), seed).contains("Final Answer:")).collect();
            let looks = answers.iter().position(|answer| *answer).unwrap();
            assert!((2..=4).contains(&looks) && answers[looks..].iter().all(|answer| *answer), "{answers:?}");
        }
        assert!(reply(&prompt(0, None, true), 1).starts_with("Thought: "));
    }

    #[test]
    fn an_error_or_a_prompt_without_files_still_gets_an_answer() {
        assert!(reply(&prompt(1, Some("FileNotFoundError: nothing"), false), 1).starts_with("Final Answer: The "));
        let nothing = AgentPrompt { paths: Vec::new(), ..prompt(0, None, false) };
        assert!(reply(&nothing, 1).starts_with("Final Answer: no data file"));
    }
}
