//! Instants. Kurier counts microseconds since 1970 in UTC: what the databases keep, what
//! sorts as a number, and finer than any client sends.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A time's format may be this long.
const FORMAT_BYTES_MAX: usize = 256;

/// An instant in microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 time such as 2026-01-31T09:30:00Z")]
pub struct TimeError(String);

impl Timestamp {
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    pub const fn as_micros(self) -> i64 {
        self.0
    }

    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// `self - earlier`, negative when `earlier` is later.
    pub const fn micros_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    #[must_use]
    pub const fn shifted(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        self.shifted(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
    }

    /// The first instant of this instant's month, and of the month `months` after it, in UTC.
    pub fn month(self, months: u32) -> (Month, Self) {
        let date = self.civil().date().first_of_month();
        let mut first = date;
        for _ in 0..months {
            first = first.last_of_month().tomorrow().unwrap_or(first);
        }
        let start = first.to_datetime(jiff::civil::Time::midnight());
        let month = Month {
            year: first.year(),
            month: first.month(),
        };
        (month, Self::of_civil(start))
    }

    /// As a format says (`%d.%m.%Y`), so many seconds east of UTC; none if it is no format.
    pub fn formatted(self, format: &str, offset_seconds: i32) -> Option<String> {
        if format.len() > FORMAT_BYTES_MAX || has_wide_field(format) {
            return None;
        }
        let offset = jiff::tz::Offset::from_seconds(offset_seconds).ok()?;
        let zoned = self.jiff().to_zoned(jiff::tz::TimeZone::fixed(offset));
        jiff::fmt::strtime::format(format, &zoned).ok()
    }

    fn civil(self) -> jiff::civil::DateTime {
        jiff::tz::Offset::UTC.to_datetime(self.jiff())
    }

    fn of_civil(datetime: jiff::civil::DateTime) -> Self {
        // The calendar reaches a day further than instants do, at both ends.
        let end = match datetime.year() {
            ..0 => jiff::Timestamp::MIN,
            _ => jiff::Timestamp::MAX,
        };
        let instant = jiff::tz::Offset::UTC.to_timestamp(datetime).unwrap_or(end);
        Self(instant.as_microsecond())
    }

    fn jiff(self) -> jiff::Timestamp {
        let end = match self.0 {
            ..0 => jiff::Timestamp::MIN,
            _ => jiff::Timestamp::MAX,
        };
        jiff::Timestamp::from_nanosecond(i128::from(self.0) * 1_000).unwrap_or(end)
    }
}

/// Whether a format asks for a field of a hundred characters or more.
fn has_wide_field(format: &str) -> bool {
    let widths = format.split('%').skip(1).map(|field| {
        let field = field.trim_start_matches(['-', '_', '0', '^', '#']);
        field.bytes().take_while(u8::is_ascii_digit).count()
    });
    widths.max().is_some_and(|digits| digits > 2)
}

/// A calendar month in UTC, printed as `2026_01`: the name of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    pub year: i16,
    pub month: i8,
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}_{:02}", self.year, self.month)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.jiff())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = TimeError;

    /// RFC 3339 with any precision and offset; without an offset the time is UTC.
    fn from_str(text: &str) -> Result<Self, TimeError> {
        if let Ok(instant) = text.parse::<jiff::Timestamp>() {
            return Ok(Self(instant.as_microsecond()));
        }
        let civil = text.parse::<jiff::civil::DateTime>();
        civil
            .map(Self::of_civil)
            .map_err(|_| TimeError(text.chars().take(64).collect()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// As a number of microseconds, which also says "never".
pub(crate) mod micros {
    use super::{Deserialize, Deserializer, Serializer, Timestamp};

    pub fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(time.as_micros())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(from).map(Timestamp::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let parsed = text.parse::<Timestamp>();
        let shown = parsed.map_or_else(|e| e.to_string(), |t| t.to_string());
        assert_eq!(shown, expected, "for {text}");
    }

    #[test]
    fn parses_what_clients_send() {
        check("2026-11-15T18:44:49.827+00:00", "2026-11-15T18:44:49.827Z");
        check("2026-11-15T18:44:49.827123Z", "2026-11-15T18:44:49.827123Z");
        check("2026-11-15T19:44:49+01:00", "2026-11-15T18:44:49Z");
        check("2026-11-15T18:44:49", "2026-11-15T18:44:49Z");
        check("2026-11-15", "2026-11-15T00:00:00Z");
        check(
            "soon",
            "`soon` is not an RFC 3339 time such as 2026-01-31T09:30:00Z",
        );
    }

    #[test]
    fn what_is_parsed_is_printed_as_the_same_also_at_the_ends_of_time() {
        for (text, shown) in [
            ("9999-12-30T22:00:00.999999Z", "9999-12-30T22:00:00.999999Z"),
            ("9999-12-31", "9999-12-30T22:00:00.999999Z"),
            ("-009999-01-01", "-009999-01-02T01:59:59Z"),
        ] {
            check(text, shown);
            assert_eq!(shown.parse::<Timestamp>(), text.parse(), "{text}");
        }
    }

    #[test]
    fn months_follow_the_calendar() {
        let december: Timestamp = "2026-12-31T23:59:59Z".parse().expect("valid");
        let (month, start) = december.month(1);
        assert_eq!(
            (month.to_string(), start.to_string()),
            ("2027_01".into(), "2027-01-01T00:00:00Z".into())
        );
        assert_eq!(december.month(0).1.to_string(), "2026-12-01T00:00:00Z");
    }

    #[test]
    fn the_ends_of_time_do_not_panic() {
        for micros in [i64::MIN, i64::MAX] {
            let _ = Timestamp::from_micros(micros).to_string();
            let _ = Timestamp::from_micros(micros).month(2);
        }
    }
}
