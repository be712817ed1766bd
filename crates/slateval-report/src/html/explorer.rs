//! Tails at any level: a slider, a table and a chart that move together.

use serde::Serialize;
use slateval::{Interval, LOGGING, Profile, Settings, Tail};

use slateval_text::intervals::marks;

use super::Page;
use super::headline::{headline_alpha, tail_name};
use super::picture::{both_sizes, figure};
use super::tables::{frame, header, key};
use crate::Voice;
use crate::chart::{Difference, LevelChart, Series};
use crate::grid::Kind;
use crate::markup::Markup;
use crate::number::percent;
use crate::standing::{Standing, ends};
use crate::text::name;

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
        let policy = |p: &slateval::PolicyProfile| PolicyTails {
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
    let side = if settings.tail == Tail::Lower { "worst" } else { "best" };
    let end = if settings.tail == Tail::Lower { "highest" } else { "lowest" };
    m.element(
        "p",
        &[],
        format_args!(
            "Take the {side} slates only. VaR is the {end} reward among them, CVaR their mean. Intervals hold at \
             {} confidence, each level by itself.",
            percent(settings.confidence)
        ),
    );
    controls(m, profile, at, side);
    m.within("div", &[("class", &"moves"), ("aria-live", &"polite")], |m| live(m, page, at));
    m.within("div", &[("class", &"still")], |m| own_levels(m, page));
    chart(m, page);
}

fn controls(m: &mut Markup, profile: &Profile, at: usize, side: &str) {
    let shown = percent(profile.levels[at]);
    let (last, typed) = (profile.levels.len() - 1, shown.trim_end_matches('%'));
    m.within("div", &[("class", &"controls moves")], |m| {
        m.within("label", &[("for", &"tail-slider")], |m| m.text(format_args!("Share of {side} slates")));
        m.empty(
            "input",
            &[
                ("type", &"range"),
                ("id", &"tail-slider"),
                ("min", &"0"),
                ("max", &last),
                ("step", &"1"),
                ("value", &at),
                ("aria-valuetext", &shown),
            ],
        );
        m.within("span", &[("class", &"typed")], |m| {
            m.empty(
                "input",
                &[
                    ("type", &"number"),
                    ("id", &"tail-number"),
                    ("aria-label", &"Share of slates in percent"),
                    ("min", &"0"),
                    ("max", &"100"),
                    ("step", &"any"),
                    ("value", &typed),
                ],
            );
            m.literal("%");
        });
        m.within("span", &[("class", &"used")], |m| {
            m.literal("level used: ");
            m.element("output", &[("id", &"tail-level"), ("for", &"tail-slider tail-number")], &shown);
        });
    });
}

fn columns() -> [(String, Option<usize>); 4] {
    ["policy", "VaR", "CVaR", "CVaR minus logging’s"].map(|name| (name.to_owned(), None))
}

fn live(m: &mut Markup, page: &Page<'_>, at: usize) {
    let missing = Interval::default();
    frame(m, "tail-table", "VaR and CVaR at the chosen level", |m| {
        header(m, &columns());
        m.within("tbody", &[], |m| {
            for (i, policy) in page.profile.policies.iter().enumerate() {
                m.within("tr", &[("data-policy", &i)], |m| {
                    policy_name(m, i, &policy.name);
                    page.writer.cell_with(
                        m,
                        &policy.var[at],
                        Kind::Value,
                        &[("data-what", &"var")],
                        &Markup::default(),
                    );
                    page.writer.cell_with(
                        m,
                        &policy.cvar[at],
                        Kind::Value,
                        &[("data-what", &"cvar")],
                        &Markup::default(),
                    );
                    let difference = against_logging(page.profile, &policy.name).map_or(&missing, |d| &d[at]);
                    page.writer.cell_with(
                        m,
                        difference,
                        Kind::Difference,
                        &[("data-what", &"difference")],
                        &Markup::default(),
                    );
                });
            }
        });
    });
}

/// For readers without a script: the levels that were asked for.
fn own_levels(m: &mut Markup, page: &Page<'_>) {
    frame(m, "tail-levels", "VaR and CVaR at the levels asked for", |m| {
        let mut names = columns().to_vec();
        names.insert(1, ("slates".to_owned(), None));
        header(m, &names);
        m.within("tbody", &[], |m| {
            for (a, &alpha) in page.settings.alphas.iter().enumerate() {
                for (i, policy) in page.evaluation.policies.iter().enumerate() {
                    let against = page.evaluation.comparisons.iter();
                    let mut against = against.filter(|c| c.policy == policy.name && c.baseline == LOGGING);
                    m.within("tr", &[], |m| {
                        policy_name(m, i, &policy.name);
                        m.element("td", &[("class", &"number")], tail_name(page.settings, alpha));
                        page.writer.cell(m, &policy.var[a].interval, Kind::Value);
                        page.writer.cell(m, &policy.cvar[a].interval, Kind::Value);
                        match against.next() {
                            Some(c) => page.writer.cell(m, &c.cvar[a].interval, Kind::Difference),
                            None => m.element("td", &[("class", &"number")], "–"),
                        }
                    });
                }
            }
        });
    });
}

fn policy_name(m: &mut Markup, place: usize, policy: &str) {
    m.within("th", &[("scope", &"row")], |m| {
        key(m, place);
        m.text(name(policy));
    });
}

fn chart(m: &mut Markup, page: &Page<'_>) {
    let policies = page.profile.policies.iter().enumerate();
    let series = policies.map(|(policy, p)| Series { policy, values: &p.cvar }).collect();
    let chart = LevelChart { levels: &page.profile.levels, series, difference: Difference::No };
    let side = if page.settings.tail == Tail::Lower { "worst" } else { "best" };
    let across = format!("{side} slates taken, in percent of all");
    let desc = format!(
        "For each policy the mean reward of its {side} slates, from the {side} 0.1% at the left to all of them at the \
         right, with intervals. The tables give the numbers."
    );
    let marks =
        marks(page.profile.policies.iter().map(|p| (p.name.as_str(), p.cvar.as_slice())), "the interval", page.voice);
    let caption = format!("The shaded areas are intervals, each level by itself.{marks}");
    figure(m, "tail-chart", &caption, |m| {
        both_sizes(
            m,
            "tail-chart",
            ("CVaR at every level", &desc),
            (&across, "CVaR"),
            &|id, class, size, titles, words| chart.svg(id, class, size, titles, words),
        );
    });
}
