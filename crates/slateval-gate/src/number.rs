//! Numbers as people read them.

use slateval_text::number::ungrouped;

/// With a fixed number of decimals and a real minus sign; `signed` with a plus sign too.
pub(crate) fn fixed(value: f64, decimals: usize, signed: bool) -> String {
    let text = ungrouped(value, decimals);
    if signed && !text.starts_with('−') { format!("+{text}") } else { text }
}

/// As few digits as tell the number from any other.
pub(crate) fn shortest(value: f64) -> String {
    let size = value.abs();
    let text = if size != 0.0 && !(1e-5..1e15).contains(&size) { format!("{size:e}") } else { size.to_string() };
    if value < 0.0 { format!("−{text}") } else { text }
}

/// A confidence as a percentage: three digits of what it leaves out.
pub(crate) fn percent(confidence: f64) -> String {
    let left_out = 100.0 * (1.0 - confidence);
    let decimals = (2.0 - left_out.log10().floor()).clamp(1.0, 12.0) as usize;
    let text = format!("{:.decimals$}", 100.0 * confidence);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(fixed(-0.02, 2, true), "−0.02");
        assert_eq!(fixed(0.02, 2, true), "+0.02");
        assert_eq!(fixed(-0.001, 2, false), "0.00");
        assert_eq!((shortest(-0.5), shortest(0.0), shortest(1e-9)), ("−0.5".into(), "0".into(), "1e-9".into()));
        assert_eq!((percent(0.95), percent(0.9975)), ("95%".into(), "99.75%".into()));
        assert_eq!((percent(1.0 - 0.05 / 7.0), percent(1.0 - 5e-7)), ("99.286%".into(), "99.99995%".into()));
    }
}
