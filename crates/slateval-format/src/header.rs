//! The header of a summary's file: a specification and the shape of the whole log and of each segment, as JSON.
//! See docs/methods.md, section 3.7.
//!
//! These types are the file's own. A public type may be renamed or grow, with or without the feature `serde`, and files stay
//! as they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slateval_stats::sums::{CellParts, Resolution};
use slateval_stats::{Binning, Day, PropensitySource, Result, Scale, Segment, Spec, Structure, redacted_command};

use crate::history::History;
use crate::ignored::IgnoredHeader;
use crate::inputs::{Content, Input, Inputs};
use crate::provenance::Provenance;
use crate::skipped::SkippedHeader;

/// All of the header.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    schema: String,
    written_by: String,
    spec: SpecHeader,
    /// `None` if there are no rows.
    whole: Option<CellHeader>,
    segments: Vec<SegmentHeader>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<InputHeader>,
    #[serde(default, skip_serializing_if = "SkippedHeader::is_empty")]
    skipped: SkippedHeader,
    /// A reader that does not know it misreads nothing.
    #[serde(default, skip_serializing_if = "IgnoredHeader::is_empty")]
    ignored: IgnoredHeader,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<HistoryHeader>,
}

#[derive(Serialize, Deserialize)]
struct SpecHeader {
    structure: String,
    target_slots: String,
    /// Written only if they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    propensities: Option<String>,
    policies: Vec<PolicyHeader>,
    binning: BinningHeader,
    by: Option<String>,
    #[serde(default)]
    baseline: Option<String>,
    #[serde(default)]
    cluster: Option<String>,
    #[serde(default)]
    interactions: bool,
    #[serde(default)]
    columns: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct PolicyHeader {
    name: String,
    chi: bool,
}

#[derive(Serialize, Deserialize)]
struct BinningHeader {
    capacity: usize,
    scale: ScaleHeader,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ScaleHeader {
    Linear,
    Log,
}

/// The whole log, or a segment of it.
#[derive(Serialize, Deserialize)]
pub(crate) struct CellHeader {
    pub(crate) rows: u64,
    pub(crate) slots: usize,
    #[serde(with = "ResolutionHeader")]
    pub(crate) resolution: Resolution,
    pub(crate) bins: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Resolution", rename_all = "lowercase")]
enum ResolutionHeader {
    Exact,
    Width(i32),
    Shift(u32),
}

impl CellHeader {
    pub(crate) fn new(cell: &CellParts) -> Self {
        CellHeader { rows: cell.rows, slots: cell.slots, resolution: cell.resolution, bins: cell.keys.len() }
    }

    /// A cell of this shape, whose numbers are to be read.
    pub(crate) fn into_parts(self) -> CellParts {
        CellParts {
            rows: self.rows,
            slots: self.slots,
            resolution: self.resolution,
            origin: 0.0,
            range: (0.0, 0.0),
            keys: Vec::with_capacity(self.bins),
            bins: Vec::new(),
            others: Vec::new(),
        }
    }
}

/// One segment.
#[derive(Serialize, Deserialize)]
pub(crate) struct SegmentHeader {
    pub(crate) value: SegmentValue,
    #[serde(flatten)]
    pub(crate) cell: CellHeader,
}

/// A file that rows came from.
#[derive(Serialize, Deserialize)]
struct InputHeader {
    name: String,
    bytes: u64,
    /// In hexadecimal digits: not every reader of JSON keeps numbers of 64 bits.
    fingerprint: String,
    row_groups: Option<(usize, usize)>,
    rows: u64,
    digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    day: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_position: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<ContentHeader>,
}

/// All of a file. Both are digits in text, for the same reason.
#[derive(Serialize, Deserialize)]
struct ContentHeader {
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
}

/// How the summary came about. A reader that does not know it misreads nothing, so it needs no version of its own.
#[derive(Serialize, Deserialize)]
struct HistoryHeader {
    #[serde(default)]
    days: Vec<String>,
    #[serde(default)]
    commands: Vec<String>,
    #[serde(default)]
    reading: Vec<String>,
}

/// What a header says.
pub(crate) struct Contents {
    pub(crate) spec: Spec,
    pub(crate) whole: Option<CellHeader>,
    pub(crate) segments: Vec<SegmentHeader>,
    pub(crate) provenance: Provenance,
}

/// A segment as a value of JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum SegmentValue {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
}

impl Header {
    pub(crate) fn new(
        spec: &Spec,
        whole: Option<CellHeader>,
        segments: Vec<SegmentHeader>,
        provenance: &Provenance,
    ) -> Self {
        let Provenance { inputs, skipped, ignored, history } = provenance;
        Header {
            schema: "slateval/summary/6".into(),
            written_by: concat!("slateval ", env!("CARGO_PKG_VERSION")).into(),
            spec: SpecHeader::new(spec),
            whole,
            segments,
            inputs: inputs.all().into_iter().map(InputHeader::new).collect(),
            skipped: SkippedHeader::new(skipped),
            ignored: IgnoredHeader::new(ignored),
            history: (!history.is_empty()).then(|| HistoryHeader::new(history)),
        }
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        // Strings, integers and enums: nothing that JSON cannot hold.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Who wrote a header of whatever version.
    pub(crate) fn writer(json: &[u8]) -> Option<String> {
        #[derive(Deserialize)]
        struct Writer {
            written_by: String,
        }
        let Writer { written_by } = serde_json::from_slice(json).ok()?;
        Some(written_by)
    }

    /// What a header says, or why it says nothing.
    pub(crate) fn parse(json: &[u8]) -> std::result::Result<Contents, String> {
        let header: Header = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let spec = header.spec.into_spec().map_err(|error| error.to_string())?;
        let inputs: Option<Vec<Input>> = header.inputs.into_iter().map(InputHeader::into_input).collect();
        let mut known = Inputs::default();
        inputs.ok_or("an input is not described as it should be")?.into_iter().for_each(|input| known.add(input));
        let skipped = header
            .skipped
            .into_parts()
            .ok_or("what was left out of it, and why, is told in a way that is not known")?;
        let ignored = header.ignored.into_files();
        let history = header.history.map_or(Ok(History::default()), HistoryHeader::into_history);
        let history = history.map_err(|error| error.to_string())?;
        let provenance = Provenance { inputs: known, skipped, ignored, history };
        Ok(Contents { spec, whole: header.whole, segments: header.segments, provenance })
    }
}

impl InputHeader {
    fn new(input: &Input) -> Self {
        let Input { name, bytes, fingerprint, row_groups, rows, digest, day, first_position, content } = input.clone();
        let row_groups = row_groups.map(|groups| (groups.start, groups.end));
        let [fingerprint, digest] = [fingerprint, digest].map(|number| format!("{number:016x}"));
        let (day, content) = (day.map(String::from), content.map(ContentHeader::new));
        InputHeader { name, bytes, fingerprint, row_groups, rows, digest, day, first_position, content }
    }

    fn into_input(self) -> Option<Input> {
        let InputHeader { name, bytes, fingerprint, row_groups, rows, digest, day, first_position, content } = self;
        let day = day.map(|day| day.parse()).transpose().ok()?;
        let number = |digits: String| u64::from_str_radix(&digits, 16).ok();
        let (fingerprint, digest) = (number(fingerprint)?, number(digest)?);
        let row_groups = row_groups.map(|(start, end)| start..end);
        let is_whole = row_groups.as_ref().is_none_or(|groups| groups.start < groups.end);
        // Digits that are none are as good as no digits: the file is then known by its fingerprint.
        let content = content.and_then(ContentHeader::into_content);
        is_whole.then_some(Input { name, bytes, fingerprint, row_groups, rows, digest, day, first_position, content })
    }
}

impl ContentHeader {
    fn new(content: Content) -> Self {
        let Content { hash, modified } = content;
        ContentHeader { hash: format!("{hash:016x}"), modified: modified.map(|time| time.to_string()) }
    }

    fn into_content(self) -> Option<Content> {
        let modified = self.modified.and_then(|time| time.parse().ok());
        Some(Content { hash: u64::from_str_radix(&self.hash, 16).ok()?, modified })
    }
}

impl HistoryHeader {
    fn new(history: &History) -> Self {
        let History { days, commands, reading } = history.clone();
        HistoryHeader { days: days.into_iter().map(String::from).collect(), commands, reading }
    }

    fn into_history(self) -> Result<History> {
        let HistoryHeader { days, commands, reading } = self;
        let days = days.iter().map(|day| day.parse::<Day>()).collect::<Result<_>>()?;
        // Commands of before were recorded with all that their addresses held.
        Ok(History { days, commands: commands.into_iter().map(redacted_command).collect(), reading })
    }
}

impl SpecHeader {
    fn new(spec: &Spec) -> Self {
        let scale = match spec.binning.scale {
            Scale::Linear => ScaleHeader::Linear,
            Scale::Log => ScaleHeader::Log,
        };
        SpecHeader {
            structure: spec.structure.to_string(),
            target_slots: spec.target_slots.to_string(),
            propensities: (!spec.propensities.is_known()).then(|| spec.propensities.to_string()),
            policies: spec.policies.iter().map(|p| PolicyHeader { name: p.name.clone(), chi: p.chi }).collect(),
            binning: BinningHeader { capacity: spec.binning.capacity, scale },
            by: spec.by.clone(),
            baseline: spec.baseline.clone(),
            cluster: spec.cluster.clone(),
            interactions: spec.interactions,
            columns: spec.columns.clone(),
        }
    }

    fn into_spec(self) -> Result<Spec> {
        let structure: Structure = self.structure.parse()?;
        let mut spec = Spec::new(structure, self.policies.iter().map(|policy| policy.name.as_str()));
        for (policy, header) in spec.policies.iter_mut().zip(&self.policies) {
            policy.chi = header.chi;
        }
        spec.target_slots = self.target_slots.parse()?;
        spec.propensities = self.propensities.map_or(Ok(PropensitySource::Known), |source| source.parse())?;
        let scale = match self.binning.scale {
            ScaleHeader::Linear => Scale::Linear,
            ScaleHeader::Log => Scale::Log,
        };
        spec.binning = Binning { capacity: self.binning.capacity, scale };
        spec.by = self.by;
        spec.baseline = self.baseline;
        spec.cluster = self.cluster;
        spec.interactions = self.interactions;
        spec.columns = self.columns;
        Ok(spec)
    }
}

impl From<Segment> for SegmentValue {
    fn from(segment: Segment) -> Self {
        match segment {
            Segment::Null => SegmentValue::Null,
            Segment::Bool(value) => SegmentValue::Bool(value),
            Segment::Int(value) => SegmentValue::Int(value),
            Segment::Text(value) => SegmentValue::Text(value),
        }
    }
}

impl From<SegmentValue> for Segment {
    fn from(value: SegmentValue) -> Self {
        match value {
            SegmentValue::Null => Segment::Null,
            SegmentValue::Bool(value) => Segment::Bool(value),
            SegmentValue::Int(value) => Segment::Int(value),
            SegmentValue::Text(value) => Segment::Text(value),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn estimated_propensities_are_written_and_known_ones_are_not() {
        let mut spec = Spec::new(Structure::Auto, ["new"]);
        let json =
            |spec: &Spec| String::from_utf8(Header::new(spec, None, vec![], &Provenance::default()).to_json()).unwrap();
        assert!(!json(&spec).contains("propensities"));
        spec.propensities = PropensitySource::Estimated;
        assert!(json(&spec).contains(r#""propensities":"estimated""#));
        assert_eq!(Header::parse(json(&spec).as_bytes()).unwrap().spec, spec);
    }

    #[test]
    fn the_history_is_kept() {
        let day: Day = "2024-05-31".parse().unwrap();
        let spec = Spec::new(Structure::Auto, ["new"]);
        let (name, days) = ("a.csv".to_owned(), [day].into());
        let input = Input {
            name,
            bytes: 9,
            fingerprint: 1,
            row_groups: None,
            rows: 1,
            digest: 1,
            day: Some(day),
            first_position: None,
            content: Some(Content { hash: 2, modified: Some(3) }),
        };
        let history = History { days, commands: vec!["slateval update".into()], reading: vec!["--long".into()] };
        let mut provenance = Provenance::default();
        provenance.add_input(input.clone());
        *provenance.history_mut() = history.clone();
        let json = Header::new(&spec, None, vec![], &provenance).to_json();
        let text = String::from_utf8(json.clone()).unwrap();
        let content = r#""day":"2024-05-31","content":{"hash":"0000000000000002","modified":"3"}}"#;
        assert!(text.contains(content), "{text}");
        let history_text = r#""history":{"days":["2024-05-31"],"commands":["slateval update"],"reading":["--long"]}}"#;
        assert!(text.ends_with(history_text), "{text}");
        let contents = Header::parse(&json).unwrap();
        let read = contents.provenance;
        assert_eq!((read.inputs(), read.history()), (vec![&input], &history));
        assert!(Header::parse(text.replace("05-31", "05-32").as_bytes()).is_err());
    }

    /// Files are read by other versions and by other programs.
    #[test]
    fn the_words_of_a_header_are_kept() {
        let mut spec = Spec::new("interactions:1+2".parse().unwrap(), ["new", "old"]).by("device").clustered("user");
        spec.policies[0].chi = true;
        spec.binning = "log".parse().unwrap();
        spec.baseline = Some("old".into());
        spec.columns = BTreeMap::from([("reward".into(), "clicks".into())]);
        let values = [Segment::Null, Segment::Bool(true), Segment::Int(7), Segment::Text("7".into())];
        let cell = |rows| CellHeader { rows, slots: 2, resolution: Resolution::Exact, bins: 1 };
        let input = Input {
            name: "a.csv".into(),
            bytes: 9,
            fingerprint: 0xab,
            row_groups: Some(1..3),
            rows: 12,
            digest: 1,
            day: None,
            first_position: None,
            content: None,
        };
        let segment = |value: Segment| SegmentHeader { value: value.into(), cell: cell(3) };
        let mut provenance = Provenance::default();
        provenance.add_input(input.clone());
        let header = Header::new(&spec, Some(cell(12)), values.clone().map(segment).into(), &provenance);
        let json = String::from_utf8(header.to_json()).unwrap();
        let expected = concat!(
            r#"{"schema":"slateval/summary/6","written_by":"slateval "#,
            env!("CARGO_PKG_VERSION"),
            r#"","spec":{"structure":"interactions:1+2","target_slots":"independent","#,
            r#""policies":[{"name":"new","chi":true},{"name":"old","chi":false}],"#,
            r#""binning":{"capacity":4096,"scale":"log"},"by":"device","baseline":"old","cluster":"user","#,
            r#""interactions":false,"columns":{"reward":"clicks"}},"#,
            r#""whole":{"rows":12,"slots":2,"resolution":"exact","bins":1},"#,
            r#""segments":[{"value":null,"rows":3,"slots":2,"resolution":"exact","bins":1},"#,
            r#"{"value":true,"rows":3,"slots":2,"resolution":"exact","bins":1},"#,
            r#"{"value":7,"rows":3,"slots":2,"resolution":"exact","bins":1},"#,
            r#"{"value":"7","rows":3,"slots":2,"resolution":"exact","bins":1}],"#,
            r#""inputs":[{"name":"a.csv","bytes":9,"fingerprint":"00000000000000ab","row_groups":[1,3],"rows":12,"#,
            r#""digest":"0000000000000001"}]}"#,
        );
        assert_eq!(json, expected);
        let contents = Header::parse(json.as_bytes()).unwrap();
        assert_eq!(contents.spec, spec);
        assert_eq!(contents.whole.unwrap().rows, 12);
        assert_eq!(contents.provenance.inputs(), [&input]);
        assert!(contents.provenance.history().is_empty());
        let read: Vec<Segment> = contents.segments.into_iter().map(|segment| segment.value.into()).collect();
        assert_eq!(read, values);
    }
}
