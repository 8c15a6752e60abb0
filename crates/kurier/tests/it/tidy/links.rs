//! Links and paths in documents lead somewhere: to a file that git knows, and to a heading that is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{assert_none, listed, root, sources};

/// What a document links to, and which places it has.
#[derive(Default)]
struct Document {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

impl Document {
    fn read(text: &str) -> Self {
        let mut document = Self::default();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    document.add_anchor(&heading.take().unwrap_or_default());
                }
                _ => {}
            }
        }
        document
    }

    /// As GitHub names headings: the second of the same name ends in `-1`.
    fn add_anchor(&mut self, heading: &str) {
        let small = heading.to_lowercase();
        let kept = small
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let slug: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let mut names = std::iter::once(slug.clone()).chain(numbered);
        let free = names.find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
    }
}

/// A relative path from the folder of a document, by its path from the root.
fn resolve(document: &str, path: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn is_there(files: &str, path: &str) -> bool {
    let folder = format!("{path}/");
    files
        .lines()
        .any(|file| file == path || file.starts_with(&folder))
}

/// What is wrong with a link of a document.
fn fault(
    documents: &BTreeMap<String, Document>,
    files: &str,
    from: &str,
    link: &str,
) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link
        .split_once('#')
        .map_or((link, None), |(path, it)| (path, Some(it)));
    let path = match path {
        "" => from.to_owned(),
        path => resolve(from, path),
    };
    if !is_there(files, &path) {
        return Some(format!("{from}: {link}: there is no {path}"));
    }
    let anchor = anchor?;
    let target = documents.get(&path);
    let is_known = target.is_some_and(|target| target.anchors.contains(anchor));
    (!is_known).then(|| format!("{from}: {link}: {path} has no heading #{anchor}"))
}

fn faults(documents: &BTreeMap<String, Document>, files: &str) -> Vec<String> {
    let links = documents
        .iter()
        .flat_map(|(from, document)| document.links.iter().map(move |link| (from, link)));
    links
        .filter_map(|(from, link)| fault(documents, files, from, link))
        .collect()
}

#[test]
fn links_in_documents_lead_somewhere() {
    let documents: BTreeMap<String, Document> = sources(".md")
        .into_iter()
        .map(|(path, text)| (path, Document::read(&text)))
        .collect();
    for document in ["README.md", "CONTRIBUTING.md", "docs/README.md"] {
        let links = documents.get(document).map_or(0, |it| it.links.len());
        assert!(links > 0, "{document} has no links");
    }
    assert_none(faults(&documents, &listed()), "a link leads nowhere");
}

#[test]
fn paths_in_the_architecture_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let quoted = text.split('`').skip(1).step_by(2);
    let paths: Vec<&str> = quoted
        .filter(|word| word.contains('/') && !word.contains([' ', '{', '*']))
        .collect();
    let ours: Vec<&&str> = paths.iter().filter(|path| !path.starts_with('/')).collect();
    assert!(ours.len() > 10, "the code map names no paths");
    let missing = ours.iter().filter(|path| !root().join(path).exists());
    assert_none(
        missing.map(|path| path.to_string()).collect(),
        "ARCHITECTURE.md names what is not there",
    );
}

#[test]
fn the_start_page_leads_to_every_guide_and_every_page_of_the_reference() {
    let start = "docs/README.md";
    let page = sources(start).into_iter().find(|(path, _)| path == start);
    let (_, text) = page.expect("the start page");
    let links: BTreeSet<String> = Document::read(&text)
        .links
        .iter()
        .map(|link| resolve(start, link.split('#').next().unwrap_or_default()))
        .collect();
    let pages = sources(".md").into_iter().map(|(path, _)| path);
    let is_led_to =
        |path: &String| path.starts_with("docs/reference/") || path.starts_with("docs/guides/");
    let missing = pages.filter(|path| is_led_to(path) && !links.contains(path));
    assert_none(missing.collect(), "docs/README.md does not lead to");
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let page = "# A `b` c\n## Twice\n## Twice\n[a](#a-b-c) [b](#twice-1) [c](#twice-2) [d](../x.md#there)\n\
                [e](../x.md#gone) [f](none.md) [g](https://example.com/#x) ![h](pictures/)\n```\n[i](j)\n```\n";
    let documents = BTreeMap::from([
        ("docs/page.md".to_owned(), Document::read(page)),
        ("x.md".to_owned(), Document::read("There\n=====\n")),
    ]);
    let files = "docs/page.md\nx.md\ndocs/pictures/one.png\n";
    let expected = [
        "docs/page.md: #twice-2: docs/page.md has no heading #twice-2",
        "docs/page.md: ../x.md#gone: x.md has no heading #gone",
        "docs/page.md: none.md: there is no docs/none.md",
    ];
    assert_eq!(faults(&documents, files), expected);
}
