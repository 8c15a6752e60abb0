//! Lists for people: columns without borders, which a terminal and `awk` both like.

use unicode_width::UnicodeWidthStr as _;

/// A cell's lines.
type Cell = Vec<String>;

pub fn print(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    for line in lines(header, rows) {
        println!("{line}");
    }
}

fn lines(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let header = header.iter().map(|name| name.to_uppercase()).collect();
    let rows = std::iter::once(header).chain(rows).map(cells);
    let rows: Vec<Vec<Cell>> = rows.collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(|column| width(&rows, column)).collect();
    rows.iter()
        .flat_map(|row| row_lines(row, &widths))
        .collect()
}

fn cells(row: Vec<String>) -> Vec<Cell> {
    let lines = |text: String| text.split('\n').map(str::to_owned).collect();
    row.into_iter().map(lines).collect()
}

fn width(rows: &[Vec<Cell>], column: usize) -> usize {
    let lines = rows.iter().filter_map(|row| row.get(column)).flatten();
    lines.map(|line| line.width()).max().unwrap_or(0)
}

fn row_lines(row: &[Cell], widths: &[usize]) -> Vec<String> {
    let height = row.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let mut line = String::new();
        for (column, width) in widths.iter().enumerate() {
            let text = row.get(column).and_then(|cell| cell.get(at));
            let text = text.map_or("", String::as_str);
            let padding = " ".repeat(width - text.width() + 2);
            line.push_str(text);
            line.push_str(&padding);
        }
        line.trim().to_owned()
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_on_the_screen() {
        let rows = [
            ["a", "1", "x"].map(str::to_owned).to_vec(),
            // Each of these characters takes two places, and the accent none.
            vec!["日本".to_owned(), "cafe\u{301}".to_owned()],
            ["", "two\nlines", "last"].map(str::to_owned).to_vec(),
        ];
        let expected = [
            "ID    NAME   WHY?",
            "a     1      x",
            "日本  cafe\u{301}",
            "two    last",
            "lines",
        ];
        assert_eq!(lines(&["id", "name", "why?"], rows), expected);
    }
}
