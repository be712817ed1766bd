//! The types of a CSV file's columns, guessed from cells. Readers do not rely on them: they are for people to look at.

use arrow_schema::{DataType, TimeUnit};

/// What the cells of a column seen so far can be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Guess {
    /// No cell had text.
    #[default]
    Nothing,
    Bool,
    Int,
    Float,
    Date,
    Time(TimeUnit),
    Text,
}

impl Guess {
    /// What these cells can be together.
    pub(crate) fn of<'a>(cells: impl Iterator<Item = &'a str>) -> Guess {
        cells.map(Guess::of_cell).fold(Guess::Nothing, Guess::and)
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Guess::Nothing => DataType::Null,
            Guess::Bool => DataType::Boolean,
            Guess::Int => DataType::Int64,
            Guess::Float => DataType::Float64,
            Guess::Date => DataType::Date32,
            Guess::Time(unit) => DataType::Timestamp(unit, None),
            Guess::Text => DataType::Utf8,
        }
    }

    fn and(self, other: Guess) -> Guess {
        match (self, other) {
            (a, b) if a == b => a,
            (Guess::Nothing, a) | (a, Guess::Nothing) => a,
            (Guess::Int, Guess::Float) | (Guess::Float, Guess::Int) => Guess::Float,
            (Guess::Date, time @ Guess::Time(_)) | (time @ Guess::Time(_), Guess::Date) => time,
            (Guess::Time(a), Guess::Time(b)) => Guess::Time(a.max(b)),
            _ => Guess::Text,
        }
    }

    fn of_cell(cell: &str) -> Guess {
        let cell = cell.trim();
        if cell.is_empty() {
            return Guess::Nothing;
        }
        if cell.eq_ignore_ascii_case("true") || cell.eq_ignore_ascii_case("false") {
            return Guess::Bool;
        }
        of_number(cell).or_else(|| of_time(cell)).unwrap_or(Guess::Text)
    }
}

fn of_number(cell: &str) -> Option<Guess> {
    if matches!(cell, "NaN" | "nan" | "inf" | "-inf") {
        return Some(Guess::Float);
    }
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        // Whole numbers that are too large are keys or codes, which a float would round.
        return cell.parse::<i64>().ok().map(|_| Guess::Int);
    }
    let plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    (plain && cell.parse::<f64>().is_ok()).then_some(Guess::Float)
}

/// A date, or a date with the time of day and whatever follows that, such as a time zone.
fn of_time(cell: &str) -> Option<Guess> {
    let rest = without_digits(cell, "####-##-##")?;
    if rest.is_empty() {
        return Some(Guess::Date);
    }
    let rest = without_digits(rest.strip_prefix(['T', ' '])?, "##:##:##")?;
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let Some(fraction) = rest.strip_prefix('.') else { return Some(Guess::Time(TimeUnit::Second)) };
    match fraction.bytes().take_while(u8::is_ascii_digit).count() {
        1..=3 => Some(Guess::Time(TimeUnit::Millisecond)),
        4..=6 => Some(Guess::Time(TimeUnit::Microsecond)),
        7..=9 => Some(Guess::Time(TimeUnit::Nanosecond)),
        _ => None,
    }
}

/// What follows text of this shape, in which `#` is any digit.
fn without_digits<'a>(text: &'a str, shape: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(shape.len())?;
    let fits = |(byte, wanted): (u8, u8)| if wanted == b'#' { byte.is_ascii_digit() } else { byte == wanted };
    start.bytes().zip(shape.bytes()).all(fits).then_some(rest)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn guess(cells: &[&str]) -> DataType {
        Guess::of(cells.iter().copied()).data_type()
    }

    #[test]
    fn cells_of_one_kind_have_its_type() {
        let time = |unit| DataType::Timestamp(unit, None);
        assert_eq!(guess(&["", " "]), DataType::Null);
        assert_eq!(guess(&["true", "False", ""]), DataType::Boolean);
        assert_eq!(guess(&["1", "-20", "007"]), DataType::Int64);
        for float in ["1.5", ".5", "-5.", "1e3", "1.5E-7", "NaN", "inf", "-inf"] {
            assert_eq!(guess(&[float]), DataType::Float64, "{float}");
        }
        assert_eq!(guess(&["2024-02-29"]), DataType::Date32);
        assert_eq!(guess(&["2024-02-29T10:00:00"]), time(TimeUnit::Second));
        assert_eq!(guess(&["2024-02-29 10:00:00Z"]), time(TimeUnit::Second));
        assert_eq!(guess(&["2024-02-29T10:00:00.123+01:00"]), time(TimeUnit::Millisecond));
        assert_eq!(guess(&["2024-02-29T10:00:00.1234"]), time(TimeUnit::Microsecond));
        assert_eq!(guess(&["2024-02-29T10:00:00.123456789"]), time(TimeUnit::Nanosecond));
        for text in ["x", "+1", "1,5", "-", ".", "e5", "infinity", "12345678901234567890", "2024-02-29T10:00:001", "é"]
        {
            assert_eq!(guess(&[text]), DataType::Utf8, "{text}");
        }
    }

    #[test]
    fn mixed_cells_have_the_type_that_holds_all() {
        assert_eq!(guess(&["1", "", "0.5"]), DataType::Float64);
        let finer = ["2024-02-29", "2024-02-29T10:00:00.1234", "2024-02-29T10:00:00"];
        assert_eq!(guess(&finer), DataType::Timestamp(TimeUnit::Microsecond, None));
        assert_eq!(guess(&["1", "true"]), DataType::Utf8);
        assert_eq!(guess(&["1", "2024-02-29"]), DataType::Utf8);
    }

    #[test]
    fn guesses_are_those_of_arrows_reader() {
        let format = arrow_csv::reader::Format::default().with_header(true);
        let cells = [
            "true",
            "FALSE",
            "t",
            "1",
            "-1",
            "--1",
            "9223372036854775807",
            "9223372036854775808",
            "1.",
            ".5",
            ".",
            "1e5",
            "1e",
            "1.5e+3",
            "-.5E-3",
            "e5",
            "nan",
            "NaN",
            "NAN",
            "inf",
            "-inf",
            "+1",
            "2024-01-01",
            "2024-1-1",
            "2024-01-01T00:00:00",
            "2024-01-01 00:00:00.5",
            "2024-01-01T00:00:00.1234Z",
            "2024-01-01T00:00:00.",
            "2024-01-01T00:00:00.1234567 x",
            "2024-01-01T00:00:00.1234567890",
            "2024-01-01T",
            "2024-01-01T00:00:000",
            "é",
        ];
        for a in cells {
            for b in cells {
                let (schema, _) = format.infer_schema(format!("x\n{a}\n{b}\n").as_bytes(), None).unwrap();
                assert_eq!(&guess(&[a, b]), schema.field(0).data_type(), "{a}, {b}");
            }
        }
    }
}
