//! The page behind an unsubscribe link, in German and English: one file, no script, nothing
//! from elsewhere. It does not say whose link it is: mails are forwarded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::super::html::escaped;

const STYLE: &str = include_str!("page.css");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    German,
}

impl Language {
    /// The one of ours that an `Accept-Language` likes best.
    pub fn accepted(header: &str) -> Self {
        let mut best = (Self::English, 0.0);
        for range in header.split(',') {
            let (tag, rest) = range.split_once(';').unwrap_or((range, ""));
            let quality = rest.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse);
            let quality: f32 = quality.unwrap_or(0.0);
            let language = match tag.trim().split('-').next().unwrap_or_default() {
                tag if tag.eq_ignore_ascii_case("de") => Self::German,
                tag if tag.eq_ignore_ascii_case("en") => Self::English,
                _ => continue,
            };
            if quality > best.1 {
                best = (language, quality);
            }
        }
        best.0
    }

    const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    const fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::German => &GERMAN,
        }
    }
}

/// What the page is to show.
pub enum Scene<'a> {
    /// Whether nothing more on this topic is wanted.
    Ask(&'a str),
    Done(&'a str),
    DoneAll,
    Unknown,
}

struct Words {
    title: &'static str,
    ask: &'static str,
    one: &'static str,
    all: &'static str,
    done: &'static str,
    done_all: &'static str,
    still: &'static str,
    unknown: &'static str,
}

/// `{}` stands for the topic.
const ENGLISH: Words = Words {
    title: "Unsubscribe",
    ask: "Do you want no more messages about “{}”?",
    one: "Unsubscribe from “{}”",
    all: "Unsubscribe from every topic",
    done: "Done: you will get no more messages about “{}”.",
    done_all: "Done: you will get no more messages on any topic.",
    still: "What you need to know, such as receipts, is still sent to you.",
    unknown: "This link is not valid. Perhaps it was cut: please copy it whole from the message.",
};

const GERMAN: Words = Words {
    title: "Abbestellen",
    ask: "Möchten Sie keine Nachrichten mehr zum Thema „{}“?",
    one: "„{}“ abbestellen",
    all: "Alle Themen abbestellen",
    done: "Erledigt: Sie erhalten keine Nachrichten mehr zum Thema „{}“.",
    done_all: "Erledigt: Sie erhalten zu keinem Thema mehr Nachrichten.",
    still: "Notwendiges, etwa Rechnungen, erhalten Sie weiterhin.",
    unknown: "Dieser Link ist ungültig. Vielleicht wurde er abgeschnitten: Bitte kopieren Sie ihn vollständig aus der Nachricht.",
};

pub fn document(language: Language, scene: &Scene<'_>) -> String {
    let words = language.words();
    let (tag, title, body) = (language.tag(), words.title, body(words, scene));
    format!(
        "<!doctype html>\n<html lang=\"{tag}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

fn body(words: &Words, scene: &Scene<'_>) -> String {
    let said = |text: &str, topic: &str| text.replace("{}", &escaped(topic));
    let all = || button("topics", "all", words.all);
    match scene {
        Scene::Ask(topic) => {
            let one = button("topics", "one", &said(words.one, topic));
            let (ask, still) = (said(words.ask, topic), words.still);
            format!(
                "<p>{ask}</p>\n{one}{}<p class=\"small\">{still}</p>\n",
                all()
            )
        }
        Scene::Done(topic) => format!("<p>{}</p>\n{}", said(words.done, topic), all()),
        Scene::DoneAll => format!(
            "<p>{}</p>\n<p class=\"small\">{}</p>\n",
            words.done_all, words.still
        ),
        Scene::Unknown => format!("<p>{}</p>\n", words.unknown),
    }
}

/// Without an action it is sent where the page came from, whatever stands before this server.
fn button(name: &str, value: &str, label: &str) -> String {
    format!(
        "<form method=\"post\"><input type=\"hidden\" name=\"{name}\" value=\"{value}\">\
         <button>{label}</button></form>\n"
    )
}

/// Nothing may run or be loaded; the one style is known by its hash.
pub fn policy() -> String {
    let style = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_the_one_liked_best() {
        let cases = [
            ("", Language::English),
            ("de", Language::German),
            ("de-AT,de;q=0.9,en;q=0.8", Language::German),
            ("fr, en;q=0.5, de;q=0.7", Language::German),
            ("en-GB,de;q=0.9", Language::English),
            ("de;q=0", Language::English),
            ("de;q=x, ;;,", Language::English),
            ("dex", Language::English),
        ];
        for (header, expected) in cases {
            assert_eq!(Language::accepted(header), expected, "{header}");
        }
    }

    #[test]
    fn a_topic_cannot_write_html() {
        let topic = "<script>\"&'</script>";
        for scene in [Scene::Ask(topic), Scene::Done(topic)] {
            let page = document(Language::English, &scene);
            assert!(!page.contains("<script"), "{page}");
            assert!(page.contains("&lt;script&gt;&quot;&amp;&#39;"), "{page}");
        }
    }

    #[test]
    fn every_scene_is_said_in_both_languages() {
        let scenes = [
            Scene::Ask("x"),
            Scene::Done("x"),
            Scene::DoneAll,
            Scene::Unknown,
        ];
        for scene in scenes {
            let english = document(Language::English, &scene);
            let german = document(Language::German, &scene);
            assert!(english.contains("lang=\"en\"") && german.contains("lang=\"de\""));
            assert!(!english.contains("{}") && !german.contains("{}"));
            let forms = english.matches("<form method=\"post\">").count();
            let expected = match scene {
                Scene::Ask(_) => 2,
                Scene::Done(_) => 1,
                Scene::DoneAll | Scene::Unknown => 0,
            };
            assert_eq!(forms, expected);
        }
    }
}
