//! The header of a summary's file: a specification and the shape of the whole log and of each segment, as JSON.
//! See docs/methods.md, section 3.7.
//!
//! These types are the file's own. A public type may be renamed or grow, with or without the feature `serde`, and files stay
//! as they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::question::binning::{Binning, Scale};
use crate::question::error::Result;
use crate::question::segment::Segment;
use crate::question::spec::Spec;
use crate::question::structure::Structure;
use crate::summary::bins::Resolution;

/// All of the header.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    schema: String,
    written_by: String,
    spec: SpecHeader,
    /// `None` if there are no rows.
    whole: Option<CellHeader>,
    segments: Vec<SegmentHeader>,
}

#[derive(Serialize, Deserialize)]
struct SpecHeader {
    structure: String,
    target_slots: String,
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
    pub(crate) resolution: Resolution,
    pub(crate) bins: usize,
}

/// One segment.
#[derive(Serialize, Deserialize)]
pub(crate) struct SegmentHeader {
    pub(crate) value: SegmentValue,
    #[serde(flatten)]
    pub(crate) cell: CellHeader,
}

/// What a header says.
pub(crate) struct Contents {
    pub(crate) spec: Spec,
    pub(crate) whole: Option<CellHeader>,
    pub(crate) segments: Vec<SegmentHeader>,
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
    pub(crate) fn new(spec: &Spec, whole: Option<CellHeader>, segments: Vec<SegmentHeader>) -> Self {
        Header {
            schema: "slateval/summary/6".into(),
            written_by: concat!("slateval ", env!("CARGO_PKG_VERSION")).into(),
            spec: SpecHeader::new(spec),
            whole,
            segments,
        }
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        // Strings, integers and enums: nothing that JSON cannot hold.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What a header says, or why it says nothing.
    pub(crate) fn parse(json: &[u8]) -> std::result::Result<Contents, String> {
        let header: Header = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let spec = header.spec.into_spec().map_err(|error| error.to_string())?;
        Ok(Contents { spec, whole: header.whole, segments: header.segments })
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
        let segment = |value: Segment| SegmentHeader { value: value.into(), cell: cell(3) };
        let header = Header::new(&spec, Some(cell(12)), values.clone().map(segment).into());
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
            r#"{"value":"7","rows":3,"slots":2,"resolution":"exact","bins":1}]}"#,
        );
        assert_eq!(json, expected);
        let contents = Header::parse(json.as_bytes()).unwrap();
        assert_eq!(contents.spec, spec);
        assert_eq!(contents.whole.unwrap().rows, 12);
        let read: Vec<Segment> = contents.segments.into_iter().map(|segment| segment.value.into()).collect();
        assert_eq!(read, values);
    }
}
