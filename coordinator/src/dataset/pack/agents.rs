//! The two agents: templates, system prompt, limits.

use argosy_shared::prompts::{AgentPrompts, AgentTemplate, Template};
use rustpython_ruff_text_size::Ranged as _;

use super::{Error, Files, names, shape::Shape, source::Source, text};

const FORMAT: &str = r#"
def format(self, **kwargs):
    NAME_steps = kwargs.pop("intermediate_steps")
    NAME_scratchpad = ""
    for NAME_action, NAME_observation in NAME_steps:
        NAME_scratchpad += NAME_action.log
        NAME_scratchpad += FORMAT_observation
    kwargs["agent_scratchpad"] = NAME_scratchpad
    kwargs["tools"] = "\n".join([f"{tool.name}: {tool.description}" for tool in self.tools])
    kwargs["tool_names"] = ", ".join([tool.name for tool in self.tools])
    return self.template.format(**kwargs)
"#;

const CODER_TOOL: &str = r"
class CustomPythonAstREPLTool(PythonAstREPLTool):
    max_turns = 0
    def _run(self, query, run_manager=None):
        if self.max_turns >= MAX_TURNS:
            return TEXT_refusal
        self.max_turns += 1
        return super()._run(query, run_manager)
";

const CREATE_CODER: &str = r"
def create_agent(llm, handlers, max_iterations=None, early_stopping_method=TEXT_method):
    NAME_parser = CustomOutputParser()
    NAME_tool = CustomPythonAstREPLTool(callbacks=handlers)
    NAME_tools = [NAME_tool]
    NAME_tool_names = [tool.name for tool in NAME_tools]
    NAME_prompt = CustomPromptTemplate(template=template, tools=NAME_tools, input_variables=ANY_variables)
    NAME_chain = LLMChain(llm=llm, prompt=NAME_prompt, callbacks=handlers)
    NAME_agent = LLMSingleActionAgent(llm_chain=NAME_chain, output_parser=NAME_parser, stop=ANY_stop, allowed_tools=NAME_tool_names)
    return AgentExecutor.from_agent_and_tools(agent=NAME_agent, tools=NAME_tools, verbose=ANY_verbose, max_iterations=max_iterations, callbacks=handlers, early_stopping_method=early_stopping_method)
";

const CREATE_REACT: &str = r"
def create_agent(llm, handlers, max_iterations=None, early_stopping_method=TEXT_method):
    NAME_parser = CustomOutputParser()
    NAME_tool = PythonAstREPLTool(callbacks=handlers)
    NAME_tools = [NAME_tool]
    NAME_tool_names = [tool.name for tool in NAME_tools]
    NAME_prompt = CustomPromptTemplate(template=template, tools=NAME_tools, input_variables=ANY_variables)
    NAME_chain = LLMChain(llm=llm, prompt=NAME_prompt, callbacks=handlers)
    NAME_agent = LLMSingleActionAgent(llm_chain=NAME_chain, output_parser=NAME_parser, stop=ANY_stop, allowed_tools=NAME_tool_names)
    return AgentExecutor.from_agent_and_tools(agent=NAME_agent, tools=NAME_tools, verbose=ANY_verbose, max_iterations=max_iterations, callbacks=handlers, early_stopping_method=early_stopping_method)
";

const INIT: &str = r"
def __init__(*_, max_iterations=NUMBER_limit):
    ...
    self.max_iterations = max_iterations
    ...
    try:
        self.full_model_name = ANY_model
        self.model_type = ANY_type
    except KeyError:
        ...
    try:
        self.api_key = ANY_key
        ...
    except KeyError:
        ...
    self.llm = self.get_model(api=self.model_type, model=self.full_model_name, api_key=self.api_key)
    self.agent = create_agent(llm=self.llm, handlers=ANY_handlers, max_iterations=self.max_iterations)
";

/// Without further arguments the client's own defaults hold, which is what the run's sampling parameters assume.
const OPENAI_MODEL: &str = r"NAME_llm = ChatOpenAI(model=model, api_key=api_key, **kwargs)";

pub(super) const GENERATE: &str = r#"
def generate(self, dataset_paths, query):
    try:
        NAME_output = self.agent.invoke(input={"system_prompt": TEXT_system_prompt, "input": FORMAT_input})
        ANY_log
    except Exception:
        ...
    ...
"#;

const GET_AGENT: &str = r#"
def get_agent(agent_type, model_name, api_config, log_file):
    if agent_type == "coder":
        return BaseAgent(model_name=model_name, api_config=api_config, log_file=log_file)
    elif agent_type == "react":
        return ReactAgent(model_name=model_name, api_config=api_config, log_file=log_file)
    else:
        ...
"#;

/// Reads both agents.
pub(super) fn extract(files: &Files) -> Result<AgentPrompts, Error> {
    let main = files.get("discovery_agent.py");
    main.check_star_imports(&[])?;
    main.check_import("agents.coder_agent", "BaseAgent")?;
    main.check_import("agents.react_agent", "ReactAgent")?;
    Shape::new(GET_AGENT).find(main)?;
    let coder = Agent { class: "BaseAgent", module: "agents.coder_utils", create: CREATE_CODER };
    let react = Agent { class: "ReactAgent", module: "agents.react_utils", create: CREATE_REACT };
    let (system_prompt, mut coder) =
        coder.read(files.get("agents/coder_agent.py"), files.get("agents/coder_utils.py"))?;
    let react_file = files.get("agents/react_agent.py");
    let (react_system_prompt, react) = react.read(react_file, files.get("agents/react_utils.py"))?;
    if react_system_prompt != system_prompt {
        let captures = Shape::new(GENERATE).find_in_class(react_file, "ReactAgent")?;
        let at = captures.expression("TEXT_system_prompt").range();
        return Err(react_file.unexpected(at, "the system prompt of agents/coder_agent.py"));
    }
    let tools = files.get("agents/coder_utils.py");
    let tool = Shape::new(CODER_TOOL).find(tools)?;
    coder.refusal = Some(tool.text(tools, "TEXT_refusal")?);
    coder.max_executions = Some(text::count(tools, tools.assigned("MAX_TURNS")?)?);
    Ok(AgentPrompts { system_prompt, coder, react })
}

/// What tells one agent's files from the other's.
struct Agent {
    class: &'static str,
    module: &'static str,
    create: &'static str,
}

impl Agent {
    /// System prompt and template, from the agent's class and its utilities.
    fn read(&self, class: &Source, utils: &Source) -> Result<(String, AgentTemplate), Error> {
        class.check_star_imports(&[])?;
        utils.check_star_imports(&[])?;
        class.check_import(self.module, "create_agent")?;
        class.check_import("langchain_openai", "ChatOpenAI")?;
        utils.check_import("langchain_experimental.tools.python.tool", "PythonAstREPLTool")?;
        utils.check_import("langchain.agents", "LLMSingleActionAgent")?;
        let init = Shape::new(INIT).find_in_class(class, self.class)?;
        self.check_model(class)?;
        let generate = Shape::new(GENERATE).find_in_class(class, self.class)?;
        let create = Shape::new(self.create).find(utils)?;
        let format = Shape::new(FORMAT).find_in_class(utils, "CustomPromptTemplate")?;
        let observation_hole = [(format.name("NAME_observation"), "observation")];
        let agent = AgentTemplate {
            template: template(utils)?,
            observation: text::f_string(utils, format.expression("FORMAT_observation"), &observation_hole)?,
            stop: text::strings(utils, create.expression("ANY_stop"))?,
            max_iterations: text::count(class, init.expression("NUMBER_limit"))?,
            max_executions: None,
            refusal: None,
        };
        Ok((generate.text(class, "TEXT_system_prompt")?, agent))
    }

    /// Makes sure that the OpenAI client is made once, plainly, and left as it is.
    fn check_model(&self, class: &Source) -> Result<(), Error> {
        let method = class.method(self.class, "get_model")?;
        let shape = Shape::new(OPENAI_MODEL);
        let found = shape.find_all(class, method);
        let [model] = found.as_slice() else {
            return Err(Error::Absent { file: class.path, expected: format!("`{}` once", shape.describe()) });
        };
        let name = model.name("NAME_llm");
        let touches = |change: &names::Change| {
            let makes_it = change.kind == names::Kind::Rebinds && change.path == name;
            names::overlap(&change.path, name) && !makes_it
        };
        if names::changes([method]).iter().any(touches) {
            let expected = format!("nothing in `get_model` that may change `{name}`");
            return Err(class.unexpected(method.range(), expected));
        }
        Ok(())
    }
}

fn template(utils: &Source) -> Result<Template, Error> {
    text::str_format(utils, utils.assigned("template")?)
}
