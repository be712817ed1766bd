//! The evaluation inside the page, small enough to be sent by mail.

use serde::Serialize;
use slateval::{Cdf, Evaluation, PolicyEvaluation, SegmentEvaluation};

use crate::chart::thinned_together;
use crate::json::{compact, one_line};
use crate::record::SegmentRecord;
use crate::{Error, Voice};

/// Points that the whole log's CDFs may have, as many as there is room for.
const POINTS: [usize; 4] = [240, 120, 60, 30];

/// Points that segments' CDFs may have, as many as there is room for. Without them, segments have no CDF.
const SEGMENT_POINTS: [usize; 4] = [100, 25, 5, 0];

/// What the page carries, and what of it is less than everything.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) json: String,
    /// Most points of a CDF, where CDFs have fewer than the evaluation's.
    pub(crate) thinned: Option<usize>,
    pub(crate) segments: Segments,
}

/// What there is of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Segments {
    /// All of them, their CDFs perhaps thinned.
    Whole,
    /// All but their CDFs.
    WithoutCdfs,
    /// They had to stay out.
    Out,
}

/// The evaluation in at most `room` bytes, if that can be: points of CDFs go first, then segments' CDFs, then segments.
pub(crate) fn embed(
    evaluation: &Evaluation,
    record: &impl Serialize,
    voice: Voice,
    room: usize,
) -> Result<Embedded, Error> {
    let mut embedded = evaluation.without_cdfs();
    let mut taken = 0;
    let mut most = 0;
    for points in POINTS {
        most = points;
        embedded.policies = policies(&evaluation.policies, points);
        taken = in_page(&compact(&embedded, record, voice)?);
        if taken <= room {
            break;
        }
    }
    let (segments, kind) = segments(&evaluation.segments, voice, room.saturating_sub(taken))?;
    embedded.segments = segments;
    let lost = |(thin, whole): (&PolicyEvaluation, &PolicyEvaluation)| thin.cdf.reward.len() < whole.cdf.reward.len();
    let mut parts = embedded.segments.iter().zip(&evaluation.segments);
    let thinned = embedded.policies.iter().zip(&evaluation.policies).any(lost)
        || kind == Segments::Whole && parts.any(|(thin, whole)| thin.policies.iter().zip(&whole.policies).any(lost));
    Ok(Embedded { json: compact(&embedded, record, voice)?, thinned: thinned.then_some(most), segments: kind })
}

/// Bytes that JSON takes inside a page, where `<` is written as a number.
pub(crate) fn in_page(json: &str) -> usize {
    json.len() + 5 * json.bytes().filter(|b| *b == b'<').count()
}

/// All segments with as much of their CDFs as there is room for, or none.
fn segments(all: &[SegmentEvaluation], voice: Voice, room: usize) -> Result<(Vec<SegmentEvaluation>, Segments), Error> {
    for points in SEGMENT_POINTS {
        let mut kept = Vec::with_capacity(all.len());
        let mut bytes = 0;
        for segment in all {
            let thin = segment.with_policies(policies(&segment.policies, points));
            // One more for the comma between them.
            bytes += in_page(&one_line(&SegmentRecord::new(&thin, voice))?) + 1;
            if bytes > room {
                break;
            }
            kept.push(thin);
        }
        if kept.len() == all.len() {
            return Ok((kept, if points == 0 { Segments::WithoutCdfs } else { Segments::Whole }));
        }
    }
    Ok((Vec::new(), Segments::Out))
}

fn policies(all: &[PolicyEvaluation], points: usize) -> Vec<PolicyEvaluation> {
    let cdfs: Vec<&Cdf> = all.iter().map(|p| &p.cdf).collect();
    let cdfs = match points {
        0 => cdfs.into_iter().map(|cdf| cdf.at_points(&[])).collect(),
        points => thinned_together(&cdfs, points),
    };
    all.iter().zip(cdfs).map(|(policy, cdf)| policy.with_cdf(cdf)).collect()
}
