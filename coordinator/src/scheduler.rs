//! Who may run what, and what follows from an event. Pure: no IO, no clock, no randomness.
//!
//! In reading order:
//!
//! - [`input`]: what can happen ([`Input`]); every input comes with the monotonic time of the process.
//! - [`reply`]: what the asker is told ([`Reply`]) and what the engine must do ([`Effect`]).
//! - [`event`]: what is journalled ([`Event`]). Events know no clock and no credentials.
//! - [`plan`]: a run as it is submitted ([`RunPlan`]).
//! - [`state`]: runs, attempts and their stages, workers ([`State`]); a stage is an enum whose variants own their data.
//! - [`decide`]: `State::decide(&self, now, input) -> Decision`, choosing without changing.
//! - [`evolve`]: `State::evolve(&mut self, &Event)`, changing without choosing.
//! - [`notice`]: the retries of a journal, for writing them out again.
//! - [`queue`]: the indices that keep a decision from scanning all attempts.
//! - [`policy`]: retries, delays, budgets.
//! - [`invariants`]: what must always hold, by name.
//!
//! # Driving it
//!
//! ```text
//! for input in mailbox.all_that_wait() {            // one turn: all of it shares one append
//!     let decision = state.decide(clock.monotonic(), input);
//!     count(state.commit(&decision));               // events, then the soft changes
//!     events.extend(decision.events); answers.push((decision.reply, decision.effects));
//! }
//! journal.append(events).await;                     // journal before reply
//! for (reply, effects) in answers { .. }
//! sleep_until(state.next_wakeup());                 // then Input::Tick
//! ```
//!
//! While an append fails the same events are appended again and nobody is answered: the state is ahead of the
//! journal, and nobody knows. One append at a time: events build on each other.
//!
//! # Soft and durable
//!
//! Events are journalled and enough to rebuild everything that matters. [`Soft`] changes are lost with the process:
//! worker registrations, deadlines, what is being judged. After a restart: [`State::replay`], then
//! [`State::after_restart`], which gives each outstanding lease one full length of grace and starts the retry delays
//! anew; then [`State::unpublished`] says which outcomes still have to be written.

pub mod decide;
pub mod event;
pub mod evolve;
pub mod input;
pub mod invariants;
pub mod notice;
pub mod plan;
pub mod policy;
pub mod queue;
pub mod reply;
pub mod state;

pub use self::{
    decide::{Decision, Soft},
    event::Event,
    input::{Departure, Input, Judgement, ResultSummary, SessionId},
    plan::{Adopted, Order, Policy, RunPlan},
    reply::{Effect, FinalAttempt, Grant, JudgeJob, Reply, RetryNotice, RetryScope},
    state::{Attempt, Outcome, RunState, Settings, Stage, State, Tally},
};

#[cfg(test)]
mod tests;
