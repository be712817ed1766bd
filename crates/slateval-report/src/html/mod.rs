//! An evaluation as a page for a meeting: one file, no network, readable without a script.

mod basis;
mod data;
mod distribution;
mod explorer;
mod headline;
mod picture;
mod segments;
mod tables;
mod trust;

use serde::Serialize;
use serde_json::Value;
use slateval::{Comparison, Evaluation, Profile, Settings};
use slateval_text::intervals::marked_comparison;

use crate::json::{one_line, to_value};
use crate::markup::{Markup, html};
use crate::metrics::Shown;
use crate::standing::Standing;
use crate::terminal::{Detail, headline as log_facts, policy_grid};
use crate::text::name;
use crate::{Error, Style, Voice};
pub(crate) use headline::headline_alpha;
use headline::{Headline, has_percent, headlines};
use tables::Writer;

const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
/// What runs beside frames in a notebook.
const BESIDE: &str = include_str!("../../assets/notebook.js");

/// Nothing is fetched, whatever a name in the log says.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Bytes of a page: what mail takes, with some left for what stands around the sections.
const ROOM: usize = 490_000;

/// What a page is made from.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a, S> {
    /// What was found.
    pub evaluation: &'a Evaluation,
    /// The same at many levels, as of [`Profile::levels`].
    pub profile: &'a Profile,
    /// What made both.
    pub settings: &'a Settings,
    /// Everything needed to run it again, as in the JSON.
    pub record: &'a S,
    /// How to run it again, as one types it.
    pub command: &'a str,
    /// In whose terms settings are named.
    pub voice: Voice,
}

/// What sections share.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    evaluation: &'a Evaluation,
    profile: &'a Profile,
    settings: &'a Settings,
    writer: Writer,
    clusters: bool,
    voice: Voice,
}

/// The evaluation as one HTML file that needs nothing else. The same input gives the same bytes.
///
/// # Errors
/// [`Error::Encode`] if `record` is nothing that JSON can hold.
///
/// ```
/// # use slateval::{Block, Field, Profile, Settings, Spec, Structure, Summary};
/// # let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"]))?;
/// # let mut block = Block::new(summary.spec());
/// # block.reset(2, 1);
/// # block.column_mut(Field::Reward).copy_from_slice(&[1.0, 0.0]);
/// # block.column_mut(Field::Logging { slot: 0 }).fill(0.5);
/// # block.column_mut(Field::Target { policy: 0, slot: 0 }).copy_from_slice(&[0.9, 0.1]);
/// # summary.add(&block)?;
/// use slateval_report::{Report, html};
///
/// let settings = Settings::default();
/// let report = Report {
///     evaluation: &summary.evaluate(&settings)?,
///     profile: &summary.profile(&Profile::levels(&settings), &settings)?,
///     settings: &settings,
///     record: &settings,
///     command: "slateval evaluate log.parquet --report report.html",
///     voice: slateval_report::Voice::CommandLine,
/// };
/// assert!(html(&report)?.starts_with("<!doctype html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn html<S: Serialize>(report: &Report<'_, S>) -> Result<String, Error> {
    let record = to_value(report.record)?;
    let grid =
        policy_grid(report.evaluation, Shown::new(report.evaluation, report.settings, Detail::Full), Style::Plain);
    let page = Page {
        evaluation: report.evaluation,
        profile: report.profile,
        settings: report.settings,
        writer: Writer::new(grid.decimals(), report.settings, report.voice),
        voice: report.voice,
        clusters: record.get("cluster").is_some_and(|c| !c.is_null()),
    };
    let tails = one_line(&explorer::Tails::new(&page))?;
    let mut main = Markup::default();
    main.within(r#"main id="main""#, |m| sections(m, &page, &grid, &record, report.command));
    let taken = main.len() + data::in_page(&tails) + STYLE.len() + SCRIPT.len();
    let embedded = data::embed(report.evaluation, report.record, report.voice, ROOM.saturating_sub(taken))?;
    let mut m = Markup::default();
    html!(m, "<!doctype html>\n<html lang=\"en\">");
    head(&mut m);
    html!(m, r##"<body><a class="skip" href="#main">Skip to the result</a>"##);
    top(&mut m, &page, &record);
    m.add(&main);
    bottom(&mut m, &embedded, report.voice);
    m.json("evaluation", &embedded.json);
    m.json("tail-data", &tails);
    m.raw(format_args!("<script>{SCRIPT}</script></body></html>\n"));
    Ok(m.into_string())
}

/// The page as a fragment for a notebook's cell: a frame of its own, so that neither's styles reach the other. Where
/// scripts run, the frame is as high as its page, and a link opens the page in a tab of its own.
///
/// # Errors
/// As [`html`].
pub fn notebook<S: Serialize>(report: &Report<'_, S>) -> Result<String, Error> {
    let page = html(report)?;
    let mut m = Markup::default();
    html!(m, r##"<p hidden style="margin:0;text-align:right"><a class="slateval-open" href="#" target="_blank">"##);
    html!(m, r#"Open the full page</a></p><iframe class="slateval" title="slateval report""#);
    html!(m, r#" sandbox="allow-scripts allow-downloads" style="width:100%;height:48rem;border:0;border-radius:8px""#);
    html!(m, r#" srcdoc="{}"></iframe>"#, page);
    m.raw(format_args!("<script>{BESIDE}</script>"));
    Ok(m.into_string())
}

fn head(m: &mut Markup) {
    html!(m, r#"<head><meta charset="utf-8"/><meta http-equiv="Content-Security-Policy" content="{}"/>"#, POLICY);
    html!(m, r#"<meta name="viewport" content="width=device-width, initial-scale=1"/>"#);
    html!(m, r#"<meta name="color-scheme" content="light dark"/><meta name="generator" content="slateval"/>"#);
    html!(m, r#"<link rel="icon" href="data:,"/><title>slateval report</title>"#);
    m.raw(format_args!("<style>{STYLE}</style></head>"));
}

fn top(m: &mut Markup, page: &Page<'_>, record: &Value) {
    let targets: Vec<String> = page.evaluation.policies.iter().skip(1).map(|p| name(&p.name)).collect();
    let title = match targets.as_slice() {
        [] => "What the log says".to_owned(),
        [one] => format!("What {one} would do"),
        [most @ .., last] => format!("What {} and {last} would do", most.join(", ")),
    };
    let log = record.get("log").and_then(|log| log.get("paths"));
    let from = match (log, record.get("summary").and_then(Value::as_str)) {
        (Some(Value::Array(paths)), _) => paths.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        (_, Some(summary)) => summary.to_owned(),
        _ => String::new(),
    };
    let from = if from.is_empty() { from } else { format!(" From {from}.") };
    let facts = log_facts(&page.evaluation.log);
    html!(m, "<header><div><h1>{}</h1>", title);
    html!(m, r#"<p class="facts">Judged by the log of another policy: {}.{}</p></div>"#, facts, from);
    html!(m, r#"<button type="button" class="quiet moves" id="theme">Dark</button></header>"#);
}

fn sections(m: &mut Markup, page: &Page<'_>, grid: &crate::grid::Grid, record: &Value, command: &str) {
    let has_segments = !page.evaluation.segments.is_empty();
    section(m, "result", "The result", |m| result(m, page));
    section(m, "distribution", "Reward distributions", |m| distribution::cdf(m, page));
    section(m, "tails", "The tail, as far as you like", |m| explorer::section(m, page));
    if !page.profile.comparisons.is_empty() {
        section(m, "quantiles", "Who gets more, who gets less", |m| distribution::quantiles(m, page));
    }
    section(m, "numbers", "All numbers", |m| tables::section(m, page, grid));
    section(m, "trust", "Can it be believed?", |m| {
        html!(m, "<h3>Checks</h3>");
        trust::checks(m, page.evaluation, page.voice);
        html!(m, "<h3>Weights</h3>");
        trust::weights(m, page);
    });
    if has_segments {
        section(m, "segments", "Segments", |m| segments::section(m, page));
    }
    section(m, "assumptions", "What the numbers rest on", |m| basis::section(m, page));
    section(m, "settings", "How to run it again", |m| basis::settings(m, record, command));
}

fn section(m: &mut Markup, id: &'static str, title: &'static str, content: impl FnOnce(&mut Markup)) {
    html!(m, r#"<section id="{}" aria-labelledby="{}-heading"><h2 id="{}-heading">{}</h2>"#, id, id, id, title);
    content(m);
    html!(m, "</section>");
}

fn result(m: &mut Markup, page: &Page<'_>) {
    let headlines = headlines(page.evaluation, page.settings, page.voice);
    m.within(r#"div class="cards""#, |m| headlines.iter().for_each(|headline| card(m, page, headline)));
    if !page.evaluation.segments.is_empty() {
        segments::verdicts(m, page);
    }
    let mut notes = Vec::new();
    if has_percent(&headlines) {
        notes.push("Percentages are in percent of the estimate that the target is compared with; its own error is not in them.");
    }
    notes.push("In brackets: confidence intervals. Larger rewards are taken to be better.");
    let of = |c: &'_ Comparison| -> Vec<Standing> {
        c.cvar.iter().map(|t| &t.interval).chain([&c.mean]).map(Standing::of).collect()
    };
    let marks: Vec<Standing> = page.evaluation.comparisons.iter().flat_map(of).collect();
    let shown = [Standing::Conditional, Standing::Refuted].into_iter().filter(|mark| marks.contains(mark));
    notes.extend(shown.filter_map(marked_comparison));
    html!(m, r#"<p class="aside">{}</p>"#, notes.join(" "));
}

fn card(m: &mut Markup, page: &Page<'_>, headline: &Headline) {
    let place = page.evaluation.policies.iter().position(|p| name(&p.name) == headline.policy);
    html!(m, r#"<article class="{}"><h3>"#, if headline.spoiled.is_empty() { "card" } else { "card failed" });
    place.into_iter().for_each(|place| tables::key(m, place));
    html!(m, r#"{} against {}</h3><p class="headline">"#, headline.policy, headline.baseline);
    html!(m, r#"{}</p><ul class="verdicts" aria-hidden="true">"#, headline.sentence());
    for claim in &headline.claims {
        let (value, ends) = claim.value.split_once(' ').unwrap_or((&claim.value, ""));
        html!(m, r#"<li class="{}"><span class="what">{}</span>"#, claim.verdict.class(), claim.what);
        html!(m, r#"<span class="value">{}</span><span class="ends">{}</span>"#, value, ends);
        html!(m, r#"<span class="verdict">{}</span></li>"#, claim.short());
    }
    html!(m, "</ul></article>");
}

fn bottom(m: &mut Markup, embedded: &data::Embedded, voice: Voice) {
    let (whole, everything) = (voice.whole_cdfs(), voice.everything());
    html!(m, r#"<footer><p class="downloads moves">"#);
    html!(m, r#"<button type="button" data-download="csv">Download the CDFs (CSV)</button> "#);
    html!(m, r#"<button type="button" data-download="json">Download the evaluation (JSON)</button></p>"#);
    if let Some(points) = embedded.thinned {
        html!(m, "<p>To keep this page small, CDFs in it and in its downloads have at most {} points; ", points);
        html!(m, "{} have all of them.</p>", whole);
    }
    match embedded.segments {
        data::Segments::Whole => {}
        data::Segments::WithoutCdfs => html!(
            m,
            "<p>The downloads have no CDFs of segments, which would make this page too large; {} have them.</p>",
            whole
        ),
        data::Segments::Out => html!(
            m,
            "<p>The downloads have no segments, which would make this page too large; {} has all.</p>",
            everything
        ),
    }
    html!(m, "<p>Made by slateval {}.</p></footer>", env!("CARGO_PKG_VERSION"));
}
