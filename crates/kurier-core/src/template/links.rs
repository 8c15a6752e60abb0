//! Links that would run a program when they are followed are refused, whoever wrote them and
//! however they are spelled.

use super::fault::Why;
use super::markup::{Bit, attributes, bits, decoded};

const URLS: &[&str] = &[
    "href",
    "src",
    "action",
    "formaction",
    "xlink:href",
    "background",
    "poster",
    "data",
    "cite",
];
const REFUSED: &[&str] = &["javascript", "vbscript", "data"];
/// So many characters of a URL are enough to know what it is.
const LOOK: usize = 256;

/// Whether every link in a rendered HTML is harmless.
pub fn check(html: &str) -> Result<(), Why> {
    for bit in bits(html) {
        let Bit::Open {
            attributes: text, ..
        } = bit
        else {
            continue;
        };
        for (name, value) in attributes(text) {
            if URLS.iter().any(|url| name.eq_ignore_ascii_case(url)) {
                check_url(value)?;
            }
        }
    }
    Ok(())
}

fn check_url(value: &str) -> Result<(), Why> {
    let decoded = decoded(value);
    // Browsers do not mind white space and control characters in a scheme.
    let solid = decoded
        .chars()
        .filter(|c| !c.is_control() && !c.is_whitespace());
    let start: String = solid.take(LOOK).collect::<String>().to_ascii_lowercase();
    let scheme = start.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = scheme.split_once(':') else {
        return Ok(());
    };
    let is_picture = scheme == "data" && rest.starts_with("image") && !start.contains("svg");
    match REFUSED.contains(&scheme) && !is_picture {
        true => Err(Why::UnsafeLink(scheme.to_owned())),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_refused_however_they_are_spelled() {
        for bad in [
            "<a href=\"javascript:alert(1)\">",
            "<a href='JaVaScRiPt:x'>",
            "<a href=javascript:x>",
            "<a href=\" \tjava\nscript:x\">",
            "<a href=\"&#106;avascript&colon;x\">",
            "<a href=\"&#x6A;avascript&#58;x\">",
            "<img src=\"vbscript:x\">",
            "<a href=\"data:text/html,<script>\">",
            "<a href=\"data:image/svg+xml,x\">",
            "<button formaction = \"javascript:x\">",
            "<p>&lt;<a\nhref=\"javascript:x\">",
        ] {
            assert!(matches!(check(bad), Err(Why::UnsafeLink(_))), "{bad}");
        }
    }

    #[test]
    fn other_links_are_fine() {
        for good in [
            "<a href=\"https://example.org/?q=javascript:x\">",
            "<a href=\"/javascript:x\">",
            "<a href=\"mailto:ann@example.org\">",
            "<img src=\"data:image/png;base64,AAAA\">",
            "<p title=\"javascript:x\">javascript:x</p>",
            "<a href=\"\">",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }
}
