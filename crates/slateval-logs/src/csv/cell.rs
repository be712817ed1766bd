//! The cells of a CSV file as numbers.

/// What a cell of a column of numbers holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Blank,
    /// Something that is not a number.
    Other,
}

impl Cell {
    /// Reads a cell, blanks around it left out; truth values are 0 and 1.
    pub(crate) fn read(text: &str) -> Cell {
        match text.trim() {
            "" => Cell::Blank,
            cell => match fast_float2::parse(cell).ok().or_else(|| truth(cell).map(|t| f64::from(u8::from(t)))) {
                Some(number) => Cell::Number(number),
                None => Cell::Other,
            },
        }
    }
}

pub(crate) fn truth(cell: &str) -> Option<bool> {
    match cell {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use slateval_testing::Random;

    use super::*;

    /// Checks that a text is read as the standard library reads it: refused by both, or the same bits.
    fn check(text: &str) -> bool {
        let read: Option<f64> = fast_float2::parse(text).ok();
        let wanted: Option<f64> = text.parse().ok();
        assert_eq!(read.map(f64::to_bits), wanted.map(f64::to_bits), "{text:?}");
        // A number with something behind it ends where the something begins.
        let partial = fast_float2::parse_partial::<f64, _>(format!("{text},1")).ok();
        let whole = partial.filter(|&(_, length)| length == text.len()).map(|(number, _)| number.to_bits());
        assert_eq!(whole, wanted.map(f64::to_bits), "{text:?}");
        wanted.is_some()
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for number in [
            "0",
            "-0",
            "5.",
            ".5",
            "-.5e1",
            "1e22",
            "1E-22",
            "7e+3",
            "+1",
            "+.5",
            "007",
            "1e400",
            "1e-400",
            "-1e999999999999",
            "0e99999999999999999999",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.2250738585072011e-308",
            "1.7976931348623159e308",
            "9007199254740993",
            "inf",
            "-inf",
            "+INF",
            "Infinity",
            "-infinity",
            "nan",
            "NaN",
            "-nan",
            "+nAn",
        ] {
            assert!(check(number), "{number}");
        }
        for other in [
            "",
            "-",
            "+",
            ".",
            "-.",
            "e5",
            ".e5",
            "1e",
            "1e+",
            "1.5e",
            "1_000",
            "0x10",
            " 1",
            "1 ",
            "\t1",
            "--1",
            "+-1",
            "1.2.3",
            "1f",
            "infinit",
            "infinityx",
            "nanx",
            "nan(1)",
            "in",
            "1,5",
            "\u{661}",
            "\"1\"",
            "1e5.0",
            "\0",
        ] {
            assert!(!check(other), "{other}");
        }
    }

    #[test]
    fn drawn_numbers_are_those_of_the_standard_library() {
        let mut random = Random::new(1);
        let mut draw = || {
            let state = random.bits();
            state ^ state >> 32
        };
        for i in 0..100_000 {
            let bits = draw();
            let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
            let float = f64::from_bits(bits >> 2);
            // Halfway between two floats, so that digits far behind decide.
            let half = (1_u64 << 53) + 2 * (bits >> 12) + 1;
            for text in [
                unit.to_string(),
                (unit as f32).to_string(),
                float.to_string(),
                format!("{float:e}"),
                format!("{:e}", unit * 1e-9),
                format!("{:.*}", i % 40, unit * 1e6),
                (bits >> (i % 60)).to_string(),
                half.to_string(),
                format!("{half}.{:0width$}", i % 2, width = i % 50),
                format!("{half}{bits}.{bits}e{}", i as i32 % 800 - 400),
            ] {
                assert!(check(&text), "{text}");
            }
        }
        let letters = b"0123456789012345+-..eEinfatyNAN_ x";
        let mut numbers = 0;
        for _ in 0..500_000 {
            let text: String = (0..draw() % 9).map(|_| letters[draw() as usize % letters.len()] as char).collect();
            numbers += u32::from(check(&text));
        }
        assert!(numbers > 10_000, "{numbers}");
    }

    #[test]
    fn cells_hold_numbers_truth_values_or_nothing() {
        assert_eq!(Cell::read(" 1e-1 "), Cell::Number(0.1));
        assert_eq!((Cell::read("true"), Cell::read("False")), (Cell::Number(1.0), Cell::Number(0.0)));
        assert_eq!((Cell::read("  "), Cell::read("n/a")), (Cell::Blank, Cell::Other));
    }
}
