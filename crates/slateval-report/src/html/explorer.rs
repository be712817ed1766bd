//! Tails at any level: a slider, a table and a chart that move together.

use serde::Serialize;
use slateval::{Interval, LOGGING, PolicyEvaluation, PolicyProfile, Profile, Settings, Tail};

use slateval_text::intervals::marks;

use super::Page;
use super::headline::{headline_alpha, tail_name};
use super::picture::figure;
use super::tables::{Head, Table, policy_head};
use crate::Voice;
use crate::chart::{Difference, LevelChart, Series};
use crate::grid::Kind;
use crate::markup::{Markup, html};
use crate::number::percent;
use crate::standing::{Standing, ends};

const DIFFERENCE: &str = "CVaR minus logging’s";

/// What the page's script knows of the tails.
#[derive(Debug, Serialize)]
pub(crate) struct Tails<'a> {
    levels: &'a [f64],
    decimals: usize,
    /// Whether withheld intervals get a mark.
    intervals: bool,
    tail: Tail,
    policies: Vec<PolicyTails>,
}

#[derive(Debug, Serialize)]
struct PolicyTails {
    var: Columns,
    cvar: Columns,
    /// To the logging policy.
    difference: Option<Columns>,
}

/// The ends are those to show.
#[derive(Debug, Serialize)]
struct Columns {
    estimate: Vec<Option<f64>>,
    lower: Vec<Option<f64>>,
    upper: Vec<Option<f64>>,
    /// Why every interval here has a mark, and which; one policy's tails all rest on the same structure.
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<Mark>,
}

#[derive(Debug, Serialize)]
struct Mark {
    open: &'static str,
    close: &'static str,
    class: &'static str,
    reason: String,
    /// Whether the ends are those of an interval that holds only under a condition.
    conditional: bool,
}

impl Mark {
    fn new(interval: &Interval, voice: Voice) -> Option<Self> {
        let standing = Standing::of(interval);
        let (open, close) = standing.brackets();
        let reason = voice.after_mark(interval.reason.as_ref()?);
        let conditional = standing == Standing::Conditional;
        (standing != Standing::Stands).then(|| Mark { open, close, class: standing.class(), reason, conditional })
    }
}

impl Columns {
    /// As they are at levels that are `exact`, which the JSON has too; elsewhere with nine digits, for they are many.
    fn new(intervals: &[Interval], exact: &[bool], voice: Voice) -> Self {
        let column = |of: fn(&Interval) -> Option<f64>| {
            let all = intervals.iter().map(of).zip(exact);
            all.map(|(value, exact)| if *exact { value } else { value.map(nine_digits) }).collect()
        };
        Columns {
            estimate: column(|i| i.estimate),
            lower: column(|i| ends(i).0),
            upper: column(|i| ends(i).1),
            mark: intervals.iter().find_map(|interval| Mark::new(interval, voice)),
        }
    }
}

fn nine_digits(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

fn against_logging<'p>(profile: &'p Profile, policy: &str) -> Option<&'p [Interval]> {
    let mut all = profile.comparisons.iter();
    all.find(|c| c.policy == policy && c.baseline == LOGGING).map(|c| c.cvar.as_slice())
}

impl<'a> Tails<'a> {
    pub(crate) fn new(page: &Page<'a>) -> Self {
        let exact: Vec<bool> = page.profile.levels.iter().map(|level| page.settings.alphas.contains(level)).collect();
        let policy = |p: &PolicyProfile| PolicyTails {
            var: Columns::new(&p.var, &exact, page.voice),
            cvar: Columns::new(&p.cvar, &exact, page.voice),
            difference: against_logging(page.profile, &p.name).map(|all| Columns::new(all, &exact, page.voice)),
        };
        Tails {
            levels: &page.profile.levels,
            decimals: page.writer.decimals,
            intervals: page.writer.intervals,
            tail: page.settings.tail,
            policies: page.profile.policies.iter().map(policy).collect(),
        }
    }
}

/// The level that is shown first.
fn start(profile: &Profile, settings: &Settings) -> usize {
    let wanted = headline_alpha(settings).map_or(0.1, |at| settings.alphas[at]);
    let distance = |i: &usize| (profile.levels[*i] - wanted).abs();
    (0..profile.levels.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

pub(crate) fn section(m: &mut Markup, page: &Page<'_>) {
    let (profile, settings) = (page.profile, page.settings);
    if profile.levels.is_empty() {
        return;
    }
    let at = start(profile, settings);
    let (side, end) = if settings.tail == Tail::Lower { ("worst", "highest") } else { ("best", "lowest") };
    html!(m, "<p>Take the {} slates only. VaR is the {} reward among them, CVaR their mean. ", side, end);
    html!(m, "Intervals hold at {} confidence, each level by itself.</p>", percent(settings.confidence));
    controls(m, profile, at, side);
    m.within(r#"div class="moves" aria-live="polite""#, |m| live(m, page, at));
    m.within(r#"div class="still""#, |m| own_levels(m, page));
    chart(m, page, side);
}

fn controls(m: &mut Markup, profile: &Profile, at: usize, side: &str) {
    let shown = percent(profile.levels[at]);
    let (last, typed) = (profile.levels.len() - 1, shown.trim_end_matches('%'));
    html!(m, r#"<div class="controls moves"><label for="tail-slider">Share of {} slates</label>"#, side);
    html!(m, r#"<input type="range" id="tail-slider" min="0" max="{}" step="1" value="{}""#, last, at);
    html!(m, r#" aria-valuetext="{}"/><span class="typed"><input type="number" id="tail-number""#, shown);
    html!(m, r#" aria-label="Share of slates in percent" min="0" max="100" step="any" value="{}"/>%</span>"#, typed);
    html!(m, r#"<span class="used">level used: <output id="tail-level" for="tail-slider tail-number">"#);
    html!(m, "{}</output></span></div>", shown);
}

fn live(m: &mut Markup, page: &Page<'_>, at: usize) {
    let (writer, none, nothing) = (page.writer, Interval::default(), Markup::default());
    let difference = |policy: &str| against_logging(page.profile, policy).map_or(&none, |all| &all[at]);
    Table::new("tail-table", "VaR and CVaR at the chosen level")
        .found_by(|(i, _)| *i)
        .column(Head::text("policy"), |m, (i, p): &(usize, &PolicyProfile)| policy_head(m, *i, &p.name))
        .column(Head::number("VaR"), |m, (_, p)| writer.cell_with(m, &p.var[at], Kind::Value, Some("var"), &nothing))
        .column(Head::number("CVaR"), |m, (_, p)| writer.cell_with(m, &p.cvar[at], Kind::Value, Some("cvar"), &nothing))
        .column(Head::number(DIFFERENCE), |m, (_, p)| {
            writer.cell_with(m, difference(&p.name), Kind::Difference, Some("difference"), &nothing);
        })
        .write(m, page.profile.policies.iter().enumerate());
}

/// For readers without a script: the levels that were asked for.
fn own_levels(m: &mut Markup, page: &Page<'_>) {
    let (writer, evaluation) = (page.writer, page.evaluation);
    let levels = page.settings.alphas.iter().enumerate();
    let lines = levels.flat_map(|level| evaluation.policies.iter().enumerate().map(move |policy| (level, policy)));
    type Line<'e> = ((usize, &'e f64), (usize, &'e PolicyEvaluation));
    Table::new("tail-levels", "VaR and CVaR at the levels asked for")
        .column(Head::text("policy"), |m, (_, (i, policy)): &Line<'_>| policy_head(m, *i, &policy.name))
        .column(Head::number("slates"), |m, ((_, alpha), _)| {
            html!(m, r#"<td class="number">{}</td>"#, tail_name(page.settings, **alpha));
        })
        .column(Head::number("VaR"), |m, ((a, _), (_, p))| writer.cell(m, Some(&p.var[*a].interval), Kind::Value))
        .column(Head::number("CVaR"), |m, ((a, _), (_, p))| writer.cell(m, Some(&p.cvar[*a].interval), Kind::Value))
        .column(Head::number(DIFFERENCE), |m, ((a, _), (_, p))| {
            let against = evaluation.comparisons.iter().find(|c| c.policy == p.name && c.baseline == LOGGING);
            writer.cell(m, against.map(|c| &c.cvar[*a].interval), Kind::Difference);
        })
        .write(m, lines);
}

fn chart(m: &mut Markup, page: &Page<'_>, side: &str) {
    let policies = page.profile.policies.iter().enumerate();
    let series = policies.map(|(policy, p)| Series { policy, values: &p.cvar }).collect();
    let chart = LevelChart { levels: &page.profile.levels, series, difference: Difference::No };
    let across = format!("{side} slates taken, in percent of all");
    let desc = format!(
        "For each policy the mean reward of its {side} slates, from the {side} 0.1% at the left to all of them at the \
         right, with intervals. The tables give the numbers."
    );
    let marks =
        marks(page.profile.policies.iter().map(|p| (p.name.as_str(), p.cvar.as_slice())), "the interval", page.voice);
    let caption = format!("The shaded areas are intervals, each level by itself.{marks}");
    figure(m, "tail-chart", ("CVaR at every level", &desc), (&across, "CVaR"), &chart, &caption);
}
