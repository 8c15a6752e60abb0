//! What somebody who signs in may be called, and how good a password has to be.

use crate::accept::Problem;
use crate::contact::normal_email;

/// Fewer characters are guessed.
pub const PASSWORD_CHARS_MIN: usize = 10;
/// More would make hashing a burden.
pub const PASSWORD_CHARS_MAX: usize = 200;
const NAME_CHARS_MAX: usize = 100;
/// No longer than what the log keeps of who did something.
const EMAIL_BYTES_MAX: usize = 64;

/// The address as users are known by it, or what is wrong with it.
pub fn email(text: &str) -> Result<String, Problem> {
    let normal = normal_email(text).filter(|it| it.len() <= EMAIL_BYTES_MAX);
    normal
        .filter(|it| !it.chars().any(char::is_control))
        .ok_or_else(|| {
            let detail = format!("must be an e-mail address of at most {EMAIL_BYTES_MAX} bytes");
            Problem::new("/email", detail)
        })
}

/// The name without the spaces around it, or what is wrong with it.
pub fn name(text: &str) -> Result<String, Problem> {
    let text = text.trim();
    let count = text.chars().count();
    if count == 0 || count > NAME_CHARS_MAX || text.chars().any(char::is_control) {
        let detail = format!("must have 1 to {NAME_CHARS_MAX} characters, and no control ones");
        return Err(Problem::new("/name", detail));
    }
    Ok(text.to_owned())
}

/// What is wrong with a password. It is taken as it is written, spaces included.
pub fn check_password(text: &str) -> Result<(), Problem> {
    let count = text.chars().count();
    if (PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&count) {
        return Ok(());
    }
    let detail = format!("must have {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters");
    Err(Problem::new("/password", detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        assert_eq!(email(" Ann@Example.COM ").as_deref(), Ok("ann@example.com"));
        for wrong in [
            "",
            "ann",
            "ann@",
            "a b",
            &format!("{}@x.de", "a".repeat(70)),
        ] {
            let problem = email(wrong).expect_err(wrong);
            assert_eq!(problem.pointer, "/email");
        }
    }

    #[test]
    fn names_say_something() {
        assert_eq!(name("  Ann Ä ").as_deref(), Ok("Ann Ä"));
        for wrong in ["", "   ", "a\nb", &"a".repeat(101)] {
            assert!(name(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn passwords_are_long_and_not_too_long() {
        assert!(check_password("0123456789").is_ok());
        assert!(check_password(&"ä".repeat(200)).is_ok());
        assert!(check_password("012345678").is_err());
        assert!(check_password(&"ä".repeat(201)).is_err());
    }
}
