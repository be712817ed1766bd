//! Numbers as people read them.

/// Decimals that show four significant digits of the largest of some numbers.
pub fn decimals(values: impl Iterator<Item = f64>) -> usize {
    let largest = values.map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max);
    if largest == 0.0 {
        return 0;
    }
    (3.0 - largest.log10().floor()).clamp(0.0, 12.0) as usize
}

/// As many decimals as given, or more where they would leave nothing of small numbers, up to twelve.
pub fn at_least_two_digits(values: [Option<f64>; 3], decimals: usize) -> usize {
    let largest = values.into_iter().flatten().map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let needed = 1.0 - largest.log10().floor();
    if needed > decimals as f64 && needed <= 12.0 { needed as usize } else { decimals }
}

/// A number with a fixed number of decimals and a real minus sign.
pub fn ungrouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.bytes().all(|b| matches!(b, b'0' | b'.'));
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

/// The same, large ones grouped by thousands.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = ungrouped(value, decimals);
    let (sign, text) = text.strip_prefix('−').map_or(("", text.as_str()), |text| ("−", text));
    let whole = text.find('.').unwrap_or(text.len());
    format!("{sign}{}{}", grouped(&text[..whole]), &text[whole..])
}

/// The same with a sign in front whatever it is.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if text.starts_with('−') { text } else { format!("+{text}") }
}

/// A whole number grouped by thousands.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A size in bytes.
pub fn bytes(value: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let mut size = value as f64 / 1000.0;
    if size < 1.0 {
        return format!("{value} bytes");
    }
    let mut unit = 0;
    while size >= 999.95 && unit + 1 < units.len() {
        size /= 1000.0;
        unit += 1;
    }
    format!("{size:.1} {}", units[unit])
}

/// A level as a percentage.
pub fn percent(level: f64) -> String {
    let text = format!("{:.6}", 100.0 * level);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(fixed(-1234567.891, 1), "−1,234,567.9");
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(signed(0.5, 2), "+0.50");
        assert_eq!(signed(-0.5, 2), "−0.50");
        assert_eq!(percent(0.05), "5%");
        assert_eq!(percent(0.001), "0.1%");
        assert_eq!(count(20_000_000), "20,000,000");
        assert_eq!((bytes(999), bytes(1_250_000)), ("999 bytes".to_owned(), "1.2 MB".to_owned()));
        assert_eq!(decimals([0.284].into_iter()), 4);
        assert_eq!(decimals([0.0224, -0.01].into_iter()), 5);
        assert_eq!(at_least_two_digits([Some(0.000_012), Some(0.0), None], 4), 6);
        assert_eq!(at_least_two_digits([Some(0.5), Some(0.000_012), None], 4), 4);
        assert_eq!((at_least_two_digits([Some(0.0); 3], 4), at_least_two_digits([Some(1e-15); 3], 4)), (4, 4));
        assert_eq!(decimals([7000.0, 2.0].into_iter()), 0);
    }
}
