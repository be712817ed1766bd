//! A picture for a paper or a slide: the CDFs, and beside them how quantiles differ.

use std::path::Path;

use slateval::{Evaluation, LOGGING, Profile, Settings};

use crate::chart::{
    Canvas, CdfChart, Curve, Difference, Ink, LevelChart, Place, Role, Series, Size, Titles, reward_range,
};
use crate::markup::Markup;
use crate::notes::{has_band, mark};
use crate::number::percent;
use crate::standing::Standing;
use crate::text::name;
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

/// The picture as SVG that needs no style sheet. The same input gives the same bytes.
pub fn svg(evaluation: &Evaluation, profile: &Profile, settings: &Settings) -> String {
    let against: Vec<_> = profile.comparisons.iter().filter(|c| c.baseline == LOGGING).collect();
    let panels = if against.is_empty() { 1.0 } else { 2.0 };
    let width = panels * PANEL.width;
    let mut canvas = Canvas::new(Ink::Printed);
    let top = legend(&mut canvas, evaluation, width);
    let notes = notes(evaluation, settings);
    let more = NOTE * notes.len().saturating_sub(1) as f64;
    let size = Size { width, height: top + PANEL.height + BELOW + more };

    let curve = if evaluation.log.reward.distinct.is_some() { Curve::Steps } else { Curve::Lines };
    let range = reward_range(&evaluation.policies);
    let chart = CdfChart { policies: &evaluation.policies, range, curve, bands: true, points: POINTS };
    let titles = Titles { x: "reward", y: "share of slates with at most this reward" };
    chart.draw(&mut canvas, &chart.frame(PANEL).shifted(0.0, top), titles);

    let place = |policy: &str| evaluation.policies.iter().position(|p| p.name == policy);
    let series: Vec<Series<'_>> =
        against.iter().filter_map(|c| Some(Series { policy: place(&c.policy)?, values: &c.quantile_band })).collect();
    if !series.is_empty() {
        let chart = LevelChart { levels: &profile.levels, series, difference: Difference::Yes };
        let titles = Titles { x: "level of the quantile, in percent", y: "quantile minus logging’s" };
        chart.draw(&mut canvas, &chart.frame(PANEL).shifted(PANEL.width, top), titles);
    }
    for (i, note) in notes.iter().enumerate() {
        let y = size.height - 12.0 - more + NOTE * i as f64;
        canvas.text(Role::Tick, (8.0, y), Place::Start, note);
    }
    document(size, &canvas).into_string()
}

/// What the bands are, and what is to be known of those with a mark, a line each.
fn notes(evaluation: &Evaluation, settings: &Settings) -> Vec<String> {
    if !evaluation.policies.iter().any(has_band) {
        return Vec::new();
    }
    let all = format!("Bands hold everywhere at once, with {} confidence.", percent(settings.confidence));
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

/// The same picture as PNG, two pixels for each unit. Letters come from a font in this crate: Latin, Greek and Cyrillic
/// look the same everywhere; others come from the system's fonts.
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
    let bytes = match ending(path).as_deref() {
        Some("svg") => svg(evaluation, profile, settings).into_bytes(),
        Some("png") => png(evaluation, profile, settings)?,
        _ => return Err(Error::Ending { path: path.display().to_string(), endings: ".svg or .png" }),
    };
    let failed = |source| Error::Write { path: path.display().to_string(), source };
    write_whole(path, |file| file.write_all(&bytes).map_err(failed))
}
