//! The cells of a CSV file as numbers.

/// Powers of ten that a float holds exactly.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Whole numbers up to here are floats without rounding.
const WHOLE: u64 = 1 << 53;

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
            cell => match cell.parse().ok().or_else(|| truth(cell).map(|t| f64::from(u8::from(t)))) {
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

/// A number at the beginning of `bytes` as programs write it, such as `0.25`, `-3` or `1.5e-7`, and how many bytes it
/// has. `None` says nothing: the cell is for [`Cell::read`].
///
/// The number is the float nearest to the decimals, as `str::parse` has it: digits and power of ten are floats without
/// rounding, so that their product or quotient is rounded once.
pub(crate) fn plain_number(bytes: &[u8]) -> Option<(f64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let mut digits = 0;
    let point = start + read_digits(&bytes[start..], &mut digits);
    let mut end = point;
    let mut read = point - start;
    let mut exponent = 0;
    if bytes.get(point) == Some(&b'.') {
        let decimals = read_digits(&bytes[point + 1..], &mut digits);
        end = point + 1 + decimals;
        read += decimals;
        exponent = -i32::try_from(decimals).ok()?;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let (power, length) = read_power(&bytes[end + 1..])?;
        exponent += power;
        end += 1 + length;
    }
    // Nineteen digits fit; of more, some were lost.
    if read == 0 || read > 19 || digits > WHOLE {
        return None;
    }
    let scale = *EXACT.get(exponent.unsigned_abs() as usize)?;
    let value = if exponent < 0 { digits as f64 / scale } else { digits as f64 * scale };
    Some((if negative { -value } else { value }, end))
}

/// Appends the digits that `bytes` begins with to a number; returns how many there are.
fn read_digits(bytes: &[u8], number: &mut u64) -> usize {
    let mut count = 0;
    while let Some(eight) = bytes.get(count..count + 8).and_then(|b| b.try_into().ok()).and_then(eight_digits) {
        *number = number.wrapping_mul(100_000_000).wrapping_add(eight);
        count += 8;
    }
    for byte in &bytes[count..] {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    count
}

/// Eight digits at once: neighbours are put together to pairs, pairs to fours, fours to the number.
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    let text = u64::from_le_bytes(bytes);
    // Digits are 0x30 to 0x39: their upper half is 3, and stays so if 6 is added.
    let upper =
        (text & 0xf0f0_f0f0_f0f0_f0f0) | (text.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0) >> 4;
    if upper != 0x3333_3333_3333_3333 {
        return None;
    }
    let ones = text - 0x3030_3030_3030_3030;
    let pairs = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// The power of ten behind an `e`, and how many bytes it has.
fn read_power(bytes: &[u8]) -> Option<(i32, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let sign = usize::from(negative || bytes.first() == Some(&b'+'));
    let mut power = 0;
    let count = read_digits(&bytes[sign..], &mut power);
    // Longer ones are far outside the exact powers.
    if count == 0 || count > 3 {
        return None;
    }
    let power = i32::try_from(power).ok()?;
    Some((if negative { -power } else { power }, sign + count))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_are_those_of_the_standard_library() {
        let mut cells: Vec<String> =
            ["0", "-0", "5.", ".5", "-.5e1", "1e22", "1E-22", "12345678", "0.12345678", "7e+3"]
                .map(str::to_owned)
                .to_vec();
        let mut state = 1_u64;
        for i in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
            cells.push(unit.to_string());
            cells.push((unit as f32).to_string());
            cells.push(format!("{:e}", unit * 1e-9));
            cells.push(format!("{:.*}", i % 20, unit * 1e6));
            cells.push((state >> (i % 60)).to_string());
        }
        let mut plain = 0;
        for cell in &cells {
            let Some((number, length)) = plain_number(format!("{cell},1").as_bytes()) else { continue };
            assert_eq!((number.to_bits(), length), (cell.parse::<f64>().unwrap().to_bits(), cell.len()), "{cell}");
            plain += 1;
        }
        assert!(plain > cells.len() / 2, "{plain} of {}", cells.len());
    }

    #[test]
    fn what_is_no_plain_number_is_left_to_others() {
        for cell in ["", "-", ".", "e5", "1e", "1e1000", "nan", "inf", "+1", " 1", "\"1\"", "12345678901234567890"] {
            assert_eq!(plain_number(cell.as_bytes()), None, "{cell}");
        }
        // The rest of the cell is for the reader to look at.
        assert_eq!(plain_number(b"12x").unwrap().1, 2);
    }

    #[test]
    fn cells_hold_numbers_truth_values_or_nothing() {
        assert_eq!(Cell::read(" 1e-1 "), Cell::Number(0.1));
        assert_eq!((Cell::read("true"), Cell::read("False")), (Cell::Number(1.0), Cell::Number(0.0)));
        assert_eq!((Cell::read("  "), Cell::read("n/a")), (Cell::Blank, Cell::Other));
    }
}
