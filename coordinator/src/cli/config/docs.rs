//! `argosy config docs`: the keys of a component, with type, default and meaning.

use comfy_table::{ContentArrangement, Table, presets};

use super::keys::{KEYS, Key};

/// A table for each section that is wanted.
pub(super) fn text(wanted: impl Fn(&str) -> bool) -> String {
    let mut sections: Vec<&str> = Vec::new();
    for key in KEYS {
        if wanted(key.section) && !sections.contains(&key.section) {
            sections.push(key.section);
        }
    }
    sections.into_iter().map(section).collect::<Vec<_>>().join("\n\n")
}

fn section(name: &str) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(110);
    }
    table.set_header(["key", "type", "default", "meaning"]);
    for Key { name, kind, default, meaning, .. } in KEYS.iter().filter(|key| key.section == name) {
        table.add_row([name, kind, default, meaning]);
    }
    format!("{name}\n{table}")
}
