//! The day that rows are of.

use std::fmt;
use std::str::FromStr;

use crate::spec::error::{Error, Result};

/// A day of the calendar, as `2024-05-31`.
///
/// ```
/// use slateval_stats::Day;
/// let day: Day = "2024-02-29".parse()?;
/// assert!(day < "2024-03-01".parse()?);
/// assert!("2023-02-29".parse::<Day>().is_err());
/// # Ok::<(), slateval_stats::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl Day {
    fn read(text: &str) -> Option<Day> {
        let numbers = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let [year, month, day] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
        let written_out = [year, month, day].map(str::len) == [4, 2, 2] && [year, month, day].into_iter().all(numbers);
        let (year, month, day): (u16, u8, u8) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
        let exists = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        (written_out && exists).then_some(Day { year, month, day })
    }
}

fn days_of(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Day {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let why = || "must be a day of the calendar, written as 2024-05-31".into();
        Day::read(text).ok_or_else(|| Error::BadSetting { setting: "day", value: text.into(), why: why() })
    }
}

impl From<Day> for String {
    fn from(day: Day) -> String {
        day.to_string()
    }
}

impl TryFrom<String> for Day {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_of_the_calendar_are_days() {
        for day in ["2024-02-29", "2000-02-29", "1999-12-31", "2023-04-30"] {
            assert_eq!(Day::read(day).map(|day| day.to_string()).as_deref(), Some(day));
        }
        for no_day in [
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-00",
            "2024-04-31",
            "2024-1-1",
            "+024-01-01",
        ] {
            assert_eq!(Day::read(no_day), None, "{no_day}");
        }
        for no_day in ["", "2024-01", "2024-01-01-01", "20240101", "2024-01-01T00:00", "today"] {
            assert_eq!(Day::read(no_day), None, "{no_day}");
        }
    }
}
