//! Pictures for a paper or a slide: CDFs, differences, tails, segments, weights.

use std::path::Path;

use slateval::{ComparisonProfile, Evaluation, LOGGING, PolicyEvaluation, Profile, SegmentEvaluation, Settings, Tail};

use slateval_text::intervals::mark;

use crate::chart::{
    Canvas, CdfChart, Chart, Curve, Difference, Ink, LevelChart, Line, LineChart, Place, Role, Series, Size, Titles,
    WeightChart, reward_range,
};
use crate::markup::{Markup, html};
use crate::number::percent;
use crate::standing::{Standing, has_band};
use crate::text::{name, segment_name};
use crate::whole::ending;
use crate::{Error, Voice, pixels, write_whole};

const PANEL: Size = Size { width: 560.0, height: 400.0 };
/// Room above the panels for the names of the policies.
const LINE: f64 = 24.0;
const ABOVE: f64 = 10.0;
const BELOW: f64 = 30.0;
/// Height of a note below the panels.
const NOTE: f64 = 17.0;

/// Points of a line.
const POINTS: usize = 600;

/// What can be drawn of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Picture {
    /// Every policy's CDF with its band.
    Cdf,
    /// How the quantiles of each target differ from logging's, at all levels.
    Difference,
    /// The mean of every policy's tail, for tails of all sizes.
    Tails,
    /// How the mean of each target differs from logging's in each segment.
    Segments,
    /// How many slates have which weight, for each target.
    Weights,
}

impl Picture {
    /// All of them.
    pub const ALL: [Picture; 5] =
        [Picture::Cdf, Picture::Difference, Picture::Tails, Picture::Segments, Picture::Weights];

    /// What it is asked for by.
    pub fn name(self) -> &'static str {
        match self {
            Picture::Cdf => "cdf",
            Picture::Difference => "difference",
            Picture::Tails => "tails",
            Picture::Segments => "segments",
            Picture::Weights => "weights",
        }
    }

    /// The picture of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|picture| picture.name() == name)
    }

    /// Whether it is drawn from a [`Profile`].
    pub fn needs_profile(self) -> bool {
        matches!(self, Picture::Difference | Picture::Tails)
    }
}

/// The picture as SVG that needs no style sheet: the CDFs, and beside them how quantiles differ. The same input gives the
/// same bytes.
pub fn svg(evaluation: &Evaluation, profile: &Profile, settings: &Settings) -> String {
    picture(&[Picture::Cdf, Picture::Difference], evaluation, Some(profile), settings)
}

/// Some pictures beside each other as SVG that needs no style sheet. A picture that there is nothing to draw for is left
/// out: differences without a target, segments without `by`, and what needs a profile without one.
pub fn picture(
    pictures: &[Picture],
    evaluation: &Evaluation,
    profile: Option<&Profile>,
    settings: &Settings,
) -> String {
    let panels: Vec<Panel<'_>> =
        pictures.iter().flat_map(|&picture| panels(picture, evaluation, profile, settings)).collect();
    let width = panels.len().max(1) as f64 * PANEL.width;
    let mut canvas = Canvas::new(Ink::Printed);
    let top = legend(&mut canvas, evaluation, width);
    let notes = notes(pictures, evaluation, settings);
    let more = NOTE * notes.len().saturating_sub(1) as f64;
    let highest = panels.iter().map(|(chart, _)| chart.height(PANEL.height)).fold(0.0, f64::max);
    let height = top + highest + BELOW + more;
    for (i, (chart, titles)) in panels.iter().enumerate() {
        chart.draw(&mut canvas, &chart.frame(PANEL).shifted(PANEL.width * i as f64, top), *titles);
    }
    for (i, note) in notes.iter().enumerate() {
        let y = height - 12.0 - more + NOTE * i as f64;
        canvas.text(Role::Tick, (8.0, y), Place::Start, note);
    }
    let mut m = Markup::default();
    html!(
        m,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" viewBox="0 0 {} {}" role="img""#,
        width,
        height,
        width,
        height
    );
    html!(m, r#" font-family="{}">"#, "'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif");
    html!(m, r##"<title>Reward distributions</title><rect width="100%" height="100%" fill="#ffffff"/>"##);
    m.add(&canvas.markup);
    html!(m, "</svg>\n");
    m.into_string()
}

/// One of the charts beside each other, and what is written along its axes.
type Panel<'a> = (Box<dyn Chart + 'a>, Titles<'static>);

/// Most segments in a picture: those with the most slates.
const MOST_SEGMENTS: usize = 20;

/// What is drawn for a picture; nothing where there is nothing to draw.
fn panels<'a>(
    picture: Picture,
    evaluation: &'a Evaluation,
    profile: Option<&'a Profile>,
    settings: &Settings,
) -> Vec<Panel<'a>> {
    let policies = &evaluation.policies;
    let place = |policy: &str| policies.iter().position(|p| p.name == policy);
    let panel = |chart: Box<dyn Chart + 'a>, x, y| (chart, Titles { x, y });
    match (picture, profile) {
        (Picture::Cdf, _) => {
            let (range, curve) = (reward_range(policies), Curve::of(evaluation));
            let chart = CdfChart { policies, range, curve, bands: true, points: POINTS };
            vec![panel(Box::new(chart), "reward", "share of slates with at most this reward")]
        }
        (Picture::Difference, Some(profile)) => {
            let against = profile.comparisons.iter().filter(|c| c.baseline == LOGGING);
            let series =
                |c: &'a ComparisonProfile| Some(Series { policy: place(&c.policy)?, values: &c.quantile_band });
            let series: Vec<Series<'_>> = against.filter_map(series).collect();
            if series.is_empty() {
                return Vec::new();
            }
            let chart = LevelChart { levels: &profile.levels, series, difference: Difference::Yes };
            vec![panel(Box::new(chart), "level of the quantile, in percent", "quantile minus logging’s")]
        }
        (Picture::Tails, Some(profile)) => {
            let series = profile.policies.iter().enumerate();
            let series = series.map(|(policy, p)| Series { policy, values: &p.cvar }).collect();
            let y = match settings.tail {
                Tail::Upper => "mean reward of the best slates",
                _ => "mean reward of the worst slates",
            };
            let chart = LevelChart { levels: &profile.levels, series, difference: Difference::No };
            vec![panel(Box::new(chart), "share of slates in the tail, in percent", y)]
        }
        (Picture::Difference | Picture::Tails, None) => Vec::new(),
        (Picture::Segments, _) => {
            let mut largest: Vec<&SegmentEvaluation> = evaluation.segments.iter().collect();
            largest.sort_by_key(|segment| std::cmp::Reverse(segment.rows));
            largest.truncate(MOST_SEGMENTS);
            let line = |segment: &&'a SegmentEvaluation| {
                let against = segment.comparisons.iter().filter(|c| c.baseline == LOGGING);
                let intervals = against.filter_map(|c| Some((place(&c.policy)?, &c.mean))).collect();
                Line { name: segment_name(&segment.value), intervals }
            };
            let lines: Vec<Line<'_>> = largest.iter().map(line).collect();
            if lines.is_empty() {
                return Vec::new();
            }
            vec![panel(Box::new(LineChart { lines }), "mean minus logging’s", "")]
        }
        (Picture::Weights, _) => {
            let of = |(i, policy): (usize, &PolicyEvaluation)| {
                let chart = WeightChart::new(policy.diagnostics.weight_histogram.as_ref()?, i);
                Some(panel(Box::new(chart), "", ""))
            };
            policies.iter().enumerate().skip(1).filter_map(of).collect()
        }
    }
}

/// What bands and intervals are, and what is to be known of those with a mark, a line each.
fn notes(pictures: &[Picture], evaluation: &Evaluation, settings: &Settings) -> Vec<String> {
    let drawn = |some: [Picture; 2]| pictures.iter().any(|picture| some.contains(picture));
    let (at_once, each) = (drawn([Picture::Cdf, Picture::Difference]), drawn([Picture::Tails, Picture::Segments]));
    if !evaluation.policies.iter().any(has_band) || !(at_once || each) {
        return Vec::new();
    }
    let confidence = percent(settings.confidence);
    let all = match (at_once, each) {
        (true, false) => format!("Bands hold everywhere at once, with {confidence} confidence."),
        (false, _) => format!("Each interval holds by itself, with {confidence} confidence."),
        (true, true) => format!(
            "Bands of CDFs and of quantiles hold everywhere at once, other intervals each by itself, with {confidence} \
             confidence."
        ),
    };
    let marked = evaluation.policies.iter().map(|policy| {
        let cdf = &policy.cdf;
        mark(&policy.name, Standing::of_band(cdf), cdf.reason.as_ref(), "the band", Voice::default()).trim().to_owned()
    });
    [all].into_iter().chain(marked.filter(|note| !note.is_empty())).collect()
}

/// Lines and names beside each other, as many as fit into a row; returns where the last row ends.
fn legend(canvas: &mut Canvas, evaluation: &Evaluation, width: f64) -> f64 {
    /// What a letter takes, generously: the drawing does not know its font.
    const LETTER: f64 = 9.0;
    let (mut x, mut y) = (8.0, ABOVE + 0.6 * LINE);
    for (i, policy) in evaluation.policies.iter().enumerate() {
        let name = name(&policy.name);
        let needed = 52.0 + LETTER * name.chars().count() as f64;
        if x > 8.0 && x + needed > width {
            (x, y) = (8.0, y + LINE);
        }
        canvas.line(Role::Line(i), (x, y - 4.0), (x + 36.0, y - 4.0));
        canvas.text(Role::Label, (x + 44.0, y), Place::Start, name);
        x += needed + 12.0;
    }
    y + 0.4 * LINE
}

/// The same picture as PNG, two pixels for each unit. Latin, Greek and Cyrillic letters come from a font in this crate and
/// look the same on every machine; others come from the system's fonts, and a letter that none of them has is a box.
///
/// # Errors
/// [`Error::Encode`] for a picture too large to be drawn, [`Error::NotBuilt`] without the feature `png`.
pub fn png(evaluation: &Evaluation, profile: &Profile, settings: &Settings) -> Result<Vec<u8>, Error> {
    pixels::encode(&svg(evaluation, profile, settings))
}

/// Writes the picture, SVG or PNG by the name's ending.
///
/// # Errors
/// [`Error::Ending`] for another ending, [`Error::Write`], and as [`png`].
pub fn write_plot(evaluation: &Evaluation, profile: &Profile, settings: &Settings, path: &Path) -> Result<(), Error> {
    write_picture(&svg(evaluation, profile, settings), path)
}

/// Writes a picture that [`picture`] has drawn, SVG or PNG by the name's ending.
///
/// # Errors
/// As [`write_plot`].
pub fn write_picture(drawing: &str, path: &Path) -> Result<(), Error> {
    let bytes = match ending(path).as_deref() {
        Some("svg") => drawing.as_bytes().to_vec(),
        Some("png") => pixels::encode(drawing)?,
        _ => return Err(Error::Ending { path: path.display().to_string(), endings: ".svg or .png" }),
    };
    let failed = |source| Error::Write { path: path.display().to_string(), source };
    write_whole(path, |file| file.write_all(&bytes).map_err(failed))
}
