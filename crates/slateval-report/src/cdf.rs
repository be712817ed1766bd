//! The CDF of every policy and segment as one table on disk.

use std::borrow::Cow;
use std::path::Path;

use slateval::{Evaluation, PolicyEvaluation};

use crate::text::is_obeyed;
use crate::whole::ending;
use crate::{Error, parquet_file, write_whole};

/// The columns, in the order of [`Row`].
pub(crate) const COLUMNS: [&str; 7] = ["policy", "segment", "reward", "raw", "estimate", "lower", "upper"];

/// One point of one CDF.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) policy: &'a str,
    /// None for the whole log.
    pub(crate) segment: Option<&'a str>,
    pub(crate) reward: f64,
    pub(crate) raw: f64,
    pub(crate) estimate: f64,
    pub(crate) lower: Option<f64>,
    pub(crate) upper: Option<f64>,
}

/// Writes the columns `policy, segment, reward, raw, estimate, lower, upper`; `segment` is null for the whole log.
///
/// # Errors
/// [`Error::Ending`] for a name that ends in neither `.parquet` nor `.csv`, [`Error::NotBuilt`] for `.parquet` without
/// the feature `parquet`, [`Error::Write`].
pub fn write_cdf(evaluation: &Evaluation, path: &Path) -> Result<(), Error> {
    let whole = evaluation.policies.iter().map(|p| (p, None));
    let parts = evaluation.segments.iter().flat_map(|s| s.policies.iter().map(|p| (p, Some(s.value.to_string()))));
    let all: Vec<(&PolicyEvaluation, Option<String>)> = whole.chain(parts).collect();
    let rows = || all.iter().flat_map(|(policy, segment)| rows(policy, segment.as_deref()));
    let bytes = match ending(path).as_deref() {
        Some("parquet") => parquet_file::encode(rows)?,
        Some("csv") => csv(rows()).map_err(|e| Error::Encode { what: "the CDF", reason: e.to_string() })?,
        _ => return Err(Error::Ending { path: path.display().to_string(), endings: ".parquet or .csv" }),
    };
    let failed = |source| Error::Write { path: path.display().to_string(), source };
    write_whole(path, |file| file.write_all(&bytes).map_err(failed))
}

fn rows<'a>(policy: &'a PolicyEvaluation, segment: Option<&'a str>) -> impl Iterator<Item = Row<'a>> {
    let cdf = &policy.cdf;
    (0..cdf.reward.len()).map(move |i| Row {
        policy: &policy.name,
        segment,
        reward: cdf.reward[i],
        raw: cdf.raw[i],
        estimate: cdf.estimate[i],
        lower: cdf.lower.get(i).copied().flatten(),
        upper: cdf.upper.get(i).copied().flatten(),
    })
}

/// Numbers have as many digits as tell them apart; what is null is empty.
fn csv<'a>(rows: impl Iterator<Item = Row<'a>>) -> Result<Vec<u8>, csv::Error> {
    let mut bytes = Vec::new();
    let mut writer = csv::Writer::from_writer(&mut bytes);
    writer.write_record(COLUMNS)?;
    let number = |value: f64| format!("{value:?}");
    let or_empty = |value: Option<f64>| value.map_or_else(String::new, number);
    for row in rows {
        let numbers =
            [number(row.reward), number(row.raw), number(row.estimate), or_empty(row.lower), or_empty(row.upper)];
        let names = [row.policy, row.segment.unwrap_or_default()].map(harmless);
        writer.write_record(names.iter().map(AsRef::as_ref).chain(numbers.iter().map(String::as_str)))?;
    }
    writer.flush()?;
    drop(writer);
    Ok(bytes)
}

/// A name that no terminal obeys and no spreadsheet takes for a formula: such a name gets an apostrophe, which spreadsheets do
/// not show. Numbers stay as they are.
fn harmless(name: &str) -> Cow<'_, str> {
    let name = match name.contains(is_obeyed) {
        true => Cow::Owned(name.replace(is_obeyed, " ")),
        false => Cow::Borrowed(name),
    };
    // Spreadsheets take blanks in front and signs of full width for the same.
    let begins = name.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if begins && name.parse::<f64>().is_err() { Cow::Owned(format!("'{name}")) } else { name }
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn names_are_no_formulas() {
        for name in ["new", "-3", "+1e5", "a=b", ""] {
            assert_eq!(harmless(name), name);
        }
        assert_eq!(harmless("=cmd()"), "'=cmd()");
        assert_eq!(harmless(" ＝cmd()"), "' ＝cmd()");
        assert!(!harmless("a\u{1b}[31mb").contains('\u{1b}'));
        assert_eq!(harmless("-1+cmd|' /C calc'!A0"), "'-1+cmd|' /C calc'!A0");
        assert_eq!(harmless("@SUM(A1)"), "'@SUM(A1)");
    }
}
