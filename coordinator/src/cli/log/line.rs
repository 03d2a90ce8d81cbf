//! A line of the log as AgentCompass writes it: `HH:MM:SS LEVEL(8) logger(36) message`, local time.

use std::fmt;

use argosy_shared::time;
use jiff::tz::TimeZone;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

/// Width of the logger's name.
const NAME: usize = 36;

/// The format.
pub(super) struct Line;

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let now = time::wall().to_zoned_datetime(TimeZone::system());
        let level = match *event.metadata().level() {
            Level::ERROR => "ERROR",
            Level::WARN => "WARNING",
            Level::INFO => "INFO",
            Level::DEBUG | Level::TRACE => "DEBUG",
        };
        let name = short(event.metadata().target());
        write!(out, "{} {level:<8} {name:<NAME$} ", now.strftime("%H:%M:%S"))?;
        context.format_fields(out.by_ref(), event)?;
        writeln!(out)
    }
}

/// The module's path with dots; what does not fit loses its beginning.
fn short(target: &str) -> String {
    let name = target.replace("::", ".");
    match name.char_indices().rev().nth(NAME - 1) {
        Some((start, _)) => name[start..].to_owned(),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_their_column() {
        assert_eq!(short("argosy_worker::session"), "argosy_worker.session");
        let long = short("argosy_coordinator::engine::actor::fleet::leases");
        assert_eq!((long.len(), long.ends_with("fleet.leases")), (NAME, true));
    }
}
