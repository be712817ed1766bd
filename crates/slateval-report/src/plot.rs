//! Pictures for a paper or a slide: CDFs, differences, tails, segments, weights.

use std::path::Path;

use slateval::{ComparisonProfile, Evaluation, LOGGING, PolicyEvaluation, Profile, SegmentEvaluation, Settings, Tail};

use slateval_text::intervals::mark;

use crate::chart::{
    Canvas, CdfChart, Curve, Difference, Ink, LevelChart, Line, LineChart, Place, Role, Series, Size, Titles,
    WeightChart, reward_range,
};
use crate::markup::Markup;
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
    let highest = panels.iter().map(Panel::height).fold(0.0, f64::max);
    let size = Size { width, height: top + highest + BELOW + more };
    for (i, panel) in panels.iter().enumerate() {
        panel.draw(&mut canvas, evaluation, (PANEL.width * i as f64, top));
    }
    for (i, note) in notes.iter().enumerate() {
        let y = size.height - 12.0 - more + NOTE * i as f64;
        canvas.text(Role::Tick, (8.0, y), Place::Start, note);
    }
    document(size, &canvas).into_string()
}

/// One of the charts beside each other.
enum Panel<'a> {
    Cdf,
    Levels(LevelChart<'a>, Titles<'static>),
    Lines(LineChart<'a>),
    Weights(WeightChart),
}

/// Most segments in a picture: those with the most slates.
const MOST_SEGMENTS: usize = 20;

/// What is drawn for a picture; nothing where there is nothing to draw.
fn panels<'a>(
    picture: Picture,
    evaluation: &'a Evaluation,
    profile: Option<&'a Profile>,
    settings: &Settings,
) -> Vec<Panel<'a>> {
    let place = |policy: &str| evaluation.policies.iter().position(|p| p.name == policy);
    match (picture, profile) {
        (Picture::Cdf, _) => vec![Panel::Cdf],
        (Picture::Difference, Some(profile)) => {
            let against = profile.comparisons.iter().filter(|c| c.baseline == LOGGING);
            let series =
                |c: &'a ComparisonProfile| Some(Series { policy: place(&c.policy)?, values: &c.quantile_band });
            let series: Vec<Series<'_>> = against.filter_map(series).collect();
            let titles = Titles { x: "level of the quantile, in percent", y: "quantile minus logging’s" };
            let chart = LevelChart { levels: &profile.levels, series, difference: Difference::Yes };
            if chart.series.is_empty() { Vec::new() } else { vec![Panel::Levels(chart, titles)] }
        }
        (Picture::Tails, Some(profile)) => {
            let series = profile.policies.iter().enumerate();
            let series = series.map(|(policy, p)| Series { policy, values: &p.cvar }).collect();
            let y = match settings.tail {
                Tail::Upper => "mean reward of the best slates",
                _ => "mean reward of the worst slates",
            };
            let titles = Titles { x: "share of slates in the tail, in percent", y };
            vec![Panel::Levels(LevelChart { levels: &profile.levels, series, difference: Difference::No }, titles)]
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
            if lines.is_empty() { Vec::new() } else { vec![Panel::Lines(LineChart { lines })] }
        }
        (Picture::Weights, _) => {
            let of = |(i, policy): (usize, &PolicyEvaluation)| {
                policy.diagnostics.weight_histogram.as_ref().map(|histogram| WeightChart::new(histogram, i))
            };
            evaluation.policies.iter().enumerate().skip(1).filter_map(of).map(Panel::Weights).collect()
        }
    }
}

impl Panel<'_> {
    fn height(&self) -> f64 {
        match self {
            Panel::Lines(chart) => chart.height(),
            _ => PANEL.height,
        }
    }

    fn draw(&self, canvas: &mut Canvas, evaluation: &Evaluation, (dx, dy): (f64, f64)) {
        match self {
            Panel::Cdf => {
                let curve = if evaluation.log.reward.distinct.is_some() { Curve::Steps } else { Curve::Lines };
                let range = reward_range(&evaluation.policies);
                let chart = CdfChart { policies: &evaluation.policies, range, curve, bands: true, points: POINTS };
                let titles = Titles { x: "reward", y: "share of slates with at most this reward" };
                chart.draw(canvas, &chart.frame(PANEL).shifted(dx, dy), titles);
            }
            Panel::Levels(chart, titles) => chart.draw(canvas, &chart.frame(PANEL).shifted(dx, dy), *titles),
            Panel::Lines(chart) => chart.draw(canvas, PANEL, (dx, dy), "mean minus logging’s"),
            Panel::Weights(chart) => chart.draw(canvas, &chart.frame(PANEL).shifted(dx, dy)),
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

fn document(size: Size, canvas: &Canvas) -> Markup {
    let mut m = Markup::default();
    let view = format!("0 0 {} {}", size.width, size.height);
    m.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("width", &size.width),
            ("height", &size.height),
            ("viewBox", &view),
            ("role", &"img"),
            ("font-family", &"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif"),
        ],
    );
    m.literal("<title>Reward distributions</title>");
    m.literal("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
    m.add(&canvas.markup);
    m.close("svg");
    m.literal("\n");
    m
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
