//! The agent's prompt: one text that grows by a reply and an observation each turn.

use super::{AgentTemplate, TOOL_DESCRIPTION};

/// The name of the only tool.
pub const TOOL_NAME: &str = "python_repl_ast";

/// The fields of an agent template.
pub const FIELDS: [&str; 5] = ["system_prompt", "tools", "tool_names", "input", "agent_scratchpad"];

/// The whole text of the next request: the template around the task input and the past steps, each a raw reply (kept
/// whole, never trimmed) and its observation.
#[must_use]
pub fn render_prompt(agent: &AgentTemplate, system_prompt: &str, input: &str, steps: &[(&str, &str)]) -> String {
    let mut scratchpad = String::new();
    for (reply, observation) in steps {
        scratchpad.push_str(reply);
        scratchpad.push_str(&agent.observation.render(&[("observation", observation)]));
    }
    let tools = format!("{TOOL_NAME}: {TOOL_DESCRIPTION}");
    agent.template.render(&[
        ("system_prompt", system_prompt),
        ("tools", &tools),
        ("tool_names", TOOL_NAME),
        ("input", input),
        ("agent_scratchpad", &scratchpad),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompts::sample::pack;

    #[test]
    fn a_turn_adds_the_reply_and_its_observation() {
        let coder = pack().agent.coder;
        let first = render_prompt(&coder, "SYS", "IN {x}", &[]);
        assert_eq!(first, format!("SYS|{TOOL_NAME}: {TOOL_DESCRIPTION}|{TOOL_NAME}|IN {{x}}|"));
        let third = render_prompt(&coder, "SYS", "IN {x}", &[("a ", "1\n"), ("b", "{input}")]);
        assert_eq!(third, format!("{first}a >1\n<b>{{input}}<"));
    }
}
