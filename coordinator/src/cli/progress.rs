//! Shows a run's progress on stderr.

use std::{io::IsTerminal as _, time::Duration};

use argosy_coordinator::engine::progress::{Progress, State};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::watch;

use super::output::say;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Display {
    /// One line that is redrawn.
    Live,
    /// A line when something changed, at most every ten seconds.
    Plain,
    /// Nothing.
    Off,
}

impl Display {
    /// Live where stderr is a terminal, else plain.
    pub(crate) fn auto() -> Self {
        if std::io::stderr().is_terminal() { Self::Live } else { Self::Plain }
    }
}

/// Shows progress until the run is over, and gives its last state.
pub(crate) async fn show(display: Display, mut progress: watch::Receiver<Progress>) -> Progress {
    let bar = ProgressBar::new(0);
    if display != Display::Live {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    // The template is a constant; should it ever be wrong, the default bar does as well.
    let template = "{bar:24} {pos}/{len} {wide_msg}";
    bar.set_style(
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "),
    );
    let mut said: Option<(Duration, usize)> = None;
    let mut message = None;
    loop {
        let now = progress.borrow_and_update().clone();
        bar.set_length(now.total as u64);
        bar.set_position(now.done as u64);
        bar.set_message(line(&now));
        if now.message.is_some() && now.message != message {
            message.clone_from(&now.message);
            let text = message.clone().unwrap_or_default();
            match display {
                Display::Live => bar.println(text),
                Display::Plain => say(text),
                Display::Off => {}
            }
        }
        let due = said.is_none_or(|(at, done)| {
            now.is_over() || (now.done != done && now.elapsed >= at + Duration::from_secs(10))
        });
        if display == Display::Plain && due {
            say(format!("[{}] {}/{} {}", clock(now.elapsed), now.done, now.total, line(&now)));
            said = Some((now.elapsed, now.done));
        }
        if now.is_over() || progress.changed().await.is_err() {
            bar.finish_and_clear();
            return now;
        }
    }
}

/// Everything but the count, in one line.
fn line(progress: &Progress) -> String {
    let mut parts = Vec::new();
    match &progress.state {
        State::Running => {}
        State::WaitingForWorkers => parts.push("waiting for workers".to_owned()),
        State::Paused(why) => parts.push(format!("PAUSED: {why}")),
        State::Finished => parts.push("finished".to_owned()),
        State::Cancelled => parts.push("cancelled".to_owned()),
        State::Failed(why) => parts.push(format!("FAILED: {why}")),
    }
    let counts = [
        (progress.running, "running"),
        (progress.judging, "judging"),
        (progress.delayed, "waiting to retry"),
        (progress.fatal, "fatal"),
        (progress.error, "error"),
        (progress.retries, "retried"),
    ];
    parts.extend(counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    if let Some(mean) = progress.mean_so_far() {
        parts.push(format!("score so far {mean:.4}"));
    }
    if progress.tokens > 0 {
        parts.push(format!("{} tokens", thousands(progress.tokens)));
    }
    if let Some(left) = time_left(progress) {
        parts.push(format!("about {} left", HumanDuration(left)));
    }
    parts.join(", ")
}

/// An estimate from the pace so far, once there is something to go by.
fn time_left(progress: &Progress) -> Option<Duration> {
    let here = progress.done.checked_sub(progress.reused)?;
    let open = progress.total.checked_sub(progress.done)?;
    if here < 5 || open == 0 || progress.elapsed < Duration::from_secs(5) {
        return None;
    }
    let each = progress.elapsed.div_f64(f64::from(u32::try_from(here).ok()?));
    each.checked_mul(u32::try_from(open).ok()?)
}

fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn thousands(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..10_000_000 => format!("{}k", n / 1000),
        _ => format!("{}M", n / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_what_is_not_zero() {
        let progress =
            Progress { total: 10, done: 4, running: 3, fatal: 1, evaluated: 3, score_sum: 1.5, ..Default::default() };
        assert_eq!(line(&progress), "3 running, 1 fatal, score so far 0.5000");
    }

    #[test]
    fn time_left_counts_only_what_was_done_here() {
        let progress =
            Progress { total: 30, done: 20, reused: 10, elapsed: Duration::from_secs(100), ..Default::default() };
        assert_eq!(time_left(&progress), Some(Duration::from_secs(100)));
        assert_eq!(time_left(&Progress { reused: 20, ..progress }), None);
    }
}
