//! Scores: the aggregation against AgentCompass 1.0.1's own, and what people are shown.

mod against_agentcompass;
mod incomplete;
mod samples;
mod support;
mod table;
