//! Files of the CDF and of plots, in the formats that this build has.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use slateval::{Block, Evaluation, Field, Profile, Segment, Settings, Spec, Structure, Summary};
use slateval_report::{Error, write_cdf, write_plot};

fn evaluated() -> (Evaluation, Profile, Settings) {
    let mut spec = Spec::new(Structure::Additive, ["new, \"bold\""]);
    spec.by = Some("device".into());
    let mut summary = Summary::new(spec).unwrap();
    let mut block = Block::new(summary.spec());
    block.reset(100, 1);
    for row in 0..100 {
        block.column_mut(Field::Reward)[row] = [0.0, 1.0, 2e-9][row % 3];
        block.column_mut(Field::Logging { slot: 0 })[row] = 0.5;
        block.column_mut(Field::Target { policy: 0, slot: 0 })[row] = [0.4, 0.6][row % 2];
        block.set_segment(row, &Segment::Text("phone".into()));
    }
    (0..4).for_each(|_| summary.add(&block).unwrap());
    let mut settings = Settings::default();
    settings.draws = 200;
    let profile = summary.profile(&Profile::levels(&settings), &settings).unwrap();
    (summary.evaluate(&settings).unwrap(), profile, settings)
}

#[test]
fn the_cdf_as_csv_has_all_digits() {
    let (evaluation, ..) = evaluated();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cdf.CSV");
    write_cdf(&evaluation, &path).unwrap();
    let mut reader = csv::Reader::from_path(&path).unwrap();
    assert_eq!(reader.headers().unwrap(), vec!["policy", "segment", "reward", "raw", "estimate", "lower", "upper"]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2 * 2 * 3, "two policies, in the whole log and in one segment, at three rewards");
    let target = &evaluation.policies[1];
    let own: Vec<_> = rows.iter().filter(|row| row[0] == target.name && row[1].is_empty()).collect();
    assert_eq!(own.len(), 3);
    let optional = |cell: &str| if cell.is_empty() { None } else { Some(cell.parse::<f64>().unwrap()) };
    for (i, row) in own.into_iter().enumerate() {
        let cdf = &target.cdf;
        let wanted = [Some(cdf.reward[i]), Some(cdf.raw[i]), Some(cdf.estimate[i]), cdf.lower[i], cdf.upper[i]];
        assert_eq!([2, 3, 4, 5, 6].map(|column| optional(&row[column])), wanted);
    }
    assert_eq!(rows.iter().filter(|row| &row[1] == "phone").count(), 6);
}

#[test]
fn other_endings_are_refused() {
    let (evaluation, profile, settings) = evaluated();
    let refused = write_cdf(&evaluation, Path::new("cdf.xlsx"));
    assert!(matches!(refused, Err(Error::Ending { endings: ".parquet or .csv", .. })));
    let refused = write_plot(&evaluation, &profile, &settings, Path::new("plot.gif"));
    assert!(matches!(refused, Err(Error::Ending { endings: ".svg or .png", .. })));
}

/// The file, or why it could not be written; nothing is left behind then.
fn made(name: &str, write: impl Fn(&Path) -> Result<(), Error>) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let written = write(&path).map_err(|e| e.to_string());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), usize::from(written.is_ok()));
    written.map(|()| std::fs::read(&path).unwrap())
}

#[test]
fn a_format_is_written_or_its_feature_named() {
    let (evaluation, profile, settings) = evaluated();
    let cdf = made("cdf.parquet", |path| write_cdf(&evaluation, path));
    let missing = "this build cannot write Parquet: build with feature `parquet`";
    assert_eq!(cdf.as_ref().err().map(String::as_str), (!cfg!(feature = "parquet")).then_some(missing));
    assert!(cdf.is_err() || cdf.is_ok_and(|bytes| bytes.starts_with(b"PAR1")));

    let plot = made("plot.png", |path| write_plot(&evaluation, &profile, &settings, path));
    let missing = "this build cannot write PNG: build with feature `png`";
    assert_eq!(plot.as_ref().err().map(String::as_str), (!cfg!(feature = "png")).then_some(missing));
    assert!(plot.is_err() || plot.is_ok_and(|bytes| bytes.starts_with(b"\x89PNG")));

    assert!(made("plot.svg", |path| write_plot(&evaluation, &profile, &settings, path)).unwrap().starts_with(b"<svg"));
}
