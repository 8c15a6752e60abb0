//! A letter as a mail. Whatever a name, a subject or an address holds, it stays in its header.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kurier_core::message::channel::{self, Sender};
use kurier_core::message::{Blame, Category, Letter, Outcome};
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart, SinglePart};
use lettre::{Address, message};

use super::dkim::Signer;
use super::plain::text_of;
use crate::channel::{Unusable, no_recipient, refused, unsendable};
use crate::secret::Secrets;

const SUBJECT_CHARS_MAX: usize = 500;
/// A header's line has at most 998 characters, and some are not ours.
const URL_BYTES_MAX: usize = 800;

/// A mail that is ready to go.
pub struct Mail {
    pub from: Address,
    pub to: Address,
    pub bytes: Vec<u8>,
}

impl Mail {
    pub fn needs_utf8(&self) -> bool {
        let (from, to): (&str, &str) = (self.from.as_ref(), self.to.as_ref());
        !from.is_ascii() || !to.is_ascii()
    }
}

pub struct Composer {
    from: Mailbox,
    reply_to: Option<Mailbox>,
    /// The part of ids after the `@`.
    domain: String,
    unsubscribe_mailto: Option<String>,
    signer: Option<Signer>,
}

impl Composer {
    pub fn new(setup: &channel::Email, secrets: &Secrets) -> Result<Self, Unusable> {
        let signer = match (&setup.dkim, secrets.get("dkim_private_key")) {
            (Some(dkim), Some(pem)) => Some(Signer::new(dkim, pem)?),
            (Some(_), None) => return Err(Unusable("dkim has no key".into())),
            (None, _) => None,
        };
        let from = mailbox(&setup.from)?;
        Ok(Self {
            domain: match &setup.dkim {
                Some(dkim) => dkim.domain.clone(),
                None => from.email.domain().to_owned(),
            },
            from,
            reply_to: setup.reply_to.as_ref().map(mailbox).transpose()?,
            unsubscribe_mailto: setup.unsubscribe_mailto.clone(),
            signer,
        })
    }

    pub fn compose(&self, letter: &Letter) -> Result<Mail, Outcome> {
        let to = recipient(letter.to.as_deref())?;
        let mut message = self.message(letter, to.clone())?;
        for (name, value) in self.own_headers(letter)? {
            // Plain ASCII on one line, which the builder would fold.
            let name = HeaderName::new_from_ascii(name.to_owned()).expect("a header's name");
            let value = HeaderValue::dangerous_new_pre_encoded(name, value.clone(), value);
            message.headers_mut().insert_raw(value);
        }
        let bytes = message.formatted();
        let bytes = match &self.signer {
            Some(signer) => signer.sign(bytes, letter.at),
            None => bytes,
        };
        Ok(Mail {
            from: self.from.email.clone(),
            to,
            bytes,
        })
    }

    fn message(&self, letter: &Letter, to: Address) -> Result<Message, Outcome> {
        let subject = letter.rendered.subject.as_deref().unwrap_or_default();
        let mut builder = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(one_line(subject))
            .date(date(letter))
            .message_id(Some(format!("<{}@{}>", letter.message, self.domain)));
        if let Some(reply_to) = &self.reply_to {
            builder = builder.reply_to(reply_to.clone());
        }
        let bad = |e: lettre::error::Error| unsendable("mail", &e.to_string());
        match body(letter)? {
            Body::Plain(text) => builder.singlepart(text).map_err(bad),
            Body::Both(parts) => builder.multipart(parts).map_err(bad),
        }
    }

    fn own_headers(&self, letter: &Letter) -> Result<Vec<(&'static str, String)>, Outcome> {
        let mut headers = vec![
            ("X-Kurier-Message", letter.message.to_string()),
            ("Feedback-ID", self.feedback_id(letter)),
        ];
        if let Some(url) = &letter.unsubscribe {
            let is_plain = url.len() <= URL_BYTES_MAX
                && url
                    .bytes()
                    .all(|b| (b'!'..=b'~').contains(&b) && !b"<>,".contains(&b));
            if !is_plain {
                return Err(unsendable(
                    "unsubscribe",
                    "the address to unsubscribe at is faulty",
                ));
            }
            let mailto = self.unsubscribe_mailto.as_ref();
            let mailto = mailto.map(|address| format!(", <mailto:{address}>"));
            let value = format!("<{url}>{}", mailto.unwrap_or_default());
            headers.push(("List-Unsubscribe", value));
            let one_click = "List-Unsubscribe=One-Click".to_owned();
            headers.push(("List-Unsubscribe-Post", one_click));
        }
        Ok(headers)
    }

    /// What the recipient's provider counts complaints by: the template, the topic, the sender.
    fn feedback_id(&self, letter: &Letter) -> String {
        let word = |text: Option<&str>| {
            let plain = text.unwrap_or("none").chars();
            let plain = plain.map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
            plain.take(60).collect::<String>()
        };
        let (template, topic) = (letter.template.as_deref(), letter.topic.as_deref());
        let domain = word(Some(&self.domain));
        format!("{}:{}:kurier:{domain}", word(template), word(topic))
    }
}

enum Body {
    Plain(SinglePart),
    Both(MultiPart),
}

/// There is always text: for who reads no HTML, and for filters that ask for it.
fn body(letter: &Letter) -> Result<Body, Outcome> {
    let rendered = &letter.rendered;
    let html = rendered
        .html
        .as_deref()
        .filter(|html| !html.trim().is_empty());
    let given = rendered
        .text
        .as_deref()
        .filter(|text| !text.trim().is_empty());
    let text = given.map(str::to_owned).or_else(|| html.map(text_of));
    let text = text.ok_or_else(|| unsendable("empty", "the mail has no content"))?;
    let text = part(ContentType::TEXT_PLAIN, &text);
    let Some(html) = html else {
        return Ok(Body::Plain(text));
    };
    let html = part(ContentType::TEXT_HTML, html);
    let both = MultiPart::alternative().singlepart(text).singlepart(html);
    Ok(Body::Both(both))
}

fn part(kind: ContentType, content: &str) -> SinglePart {
    let body = message::Body::new(lines(content));
    SinglePart::builder().header(kind).body(body)
}

/// Every line ends alike: a lone CR or LF means different things to different servers, and
/// between them a second mail could be smuggled in.
fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.replace('\n', "\r\n").replace('\0', "")
}

fn mailbox(sender: &Sender) -> Result<Mailbox, Unusable> {
    let address = sender.address.parse::<Address>();
    let address = address.map_err(|e| Unusable(format!("{}: {e}", sender.address)))?;
    Ok(Mailbox::new(sender.name.as_deref().map(one_line), address))
}

fn recipient(to: Option<&str>) -> Result<Address, Outcome> {
    let to = to.map(str::trim).filter(|to| !to.is_empty());
    let to = to.ok_or_else(no_recipient)?;
    let verdict = (Category::Permanent, Blame::Recipient);
    let bad = |_| refused(verdict, "bad_address", "this is no e-mail address");
    to.parse().map_err(bad)
}

/// A header's text on one line.
fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let cut: String = plain.take(SUBJECT_CHARS_MAX).collect();
    cut.trim().to_owned()
}

fn date(letter: &Letter) -> SystemTime {
    let seconds = letter.at.as_millis().div_euclid(1_000);
    UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A label of more than 63 bytes is looked at by the rules of international domains: its length counts in Punycode. They need
    /// tables of Unicode, which come with a package that nobody here calls by its name.
    #[test]
    fn long_domains_of_all_scripts_are_addresses_if_they_follow_the_rules() {
        let long = |begin: &str, letter: &str| format!("ada@{begin}{}.example", letter.repeat(33));
        let good = [
            "ada@b\u{fc}cher.example".to_owned(),
            long("", "\u{3042}"),
            long("BU\u{308}CHER\u{df}", "\u{43f}"),
            // Right to left, with a digit of its script.
            long("\u{645}\u{661}", "\u{62b}"),
            // A joiner after a letter that asks for one.
            long("\u{915}\u{94d}\u{200d}", "\u{937}"),
        ];
        for address in good {
            let parsed = recipient(Some(&address)).expect(&address);
            assert_eq!(parsed.to_string(), address, "it goes out as it came");
        }
        let bad = [
            // An accent on nothing, Punycode that is none, and a character that stands for nothing yet.
            long("\u{300}", "\u{3042}"),
            long("xn--", "\u{3042}"),
            long("\u{378}", "\u{3042}"),
            // Both directions in one label; a joiner between letters that do not join.
            long("\u{5d0}a", "\u{5d0}"),
            long("a\u{200d}b", "\u{3042}"),
        ];
        for address in bad {
            assert!(recipient(Some(&address)).is_err(), "{address}");
        }
    }
}
