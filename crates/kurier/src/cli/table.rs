//! Lists for people: columns without borders, which a terminal and `awk` both like.

use comfy_table::Table;
use comfy_table::presets::NOTHING;

pub fn print(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(header.iter().map(|name| name.to_uppercase()));
    table.add_rows(rows);
    for line in table.lines() {
        println!("{}", line.trim());
    }
}
