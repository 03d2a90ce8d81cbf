//! The Python that runs in the sandbox, as text. Each file says what it is for.

use serde_json::json;

use super::codec::Tag;

/// What is given to the interpreter with `-c`: it connects and runs what it is sent.
pub const BOOT: &str = include_str!("boot.py");
/// What is sent, in this order; the parts share one namespace.
pub const PARTS: [(&str, &str); 3] = [
    ("<argosy capture>", include_str!("capture.py")),
    ("<argosy repl>", include_str!("repl.py")),
    ("<argosy server>", include_str!("server.py")),
];

/// The cap of an observation in bytes where none is wanted: what can be sent at all.
pub const HARD_LIMIT: u64 = 256 << 20;

/// The first frame to the process.
pub(super) fn start(workspace: &str, limit: u64, tag: &Tag) -> Vec<u8> {
    json!({"sources": PARTS, "workspace": workspace, "limit": limit, "tag": tag.to_hex()}).to_string().into_bytes()
}
