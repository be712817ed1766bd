//! `slateval inspect`: is this log fit for the job?

use comfy_table::{Cell, ContentArrangement};
use serde::Serialize;
use slateval::{
    Evaluation, Interaction, PolicyEvaluation, Refutation, RewardFacts, Segment, SegmentEvaluation, Selection, Status,
};
use slateval_text::checks::{Tally, in_segments, names};
use slateval_text::{InWords, assumptions, ignored};

use crate::checks::{colour, mark};
use crate::grid::{DASH, coloured, new_table, right};
use crate::json::encode;
use crate::number::{bytes, count, decimals, fixed, percent};
use crate::record::{CheckRecord, DiagnosticsRecord, WithReason};
use crate::terminal::{basis, finish, reach, skipped_parts, slates};
use crate::text::{WIDTH, name, with_items, wrap};
use crate::{Error, Look, Style, Voice};

/// What a doctor looks at: the schema as understood, and an evaluation for its checks.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// Number of files; 0 for rows that came from memory.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
    /// Which column plays which role.
    pub columns: Vec<SchemaColumn>,
    /// Columns that play none.
    pub unused: Vec<String>,
    /// Columns that could be read in two ways, and which way they are read.
    pub remarks: Vec<String>,
    /// The evaluation, at some confidence.
    pub evaluation: Evaluation,
    /// The confidence of its bands.
    pub confidence: f64,
    /// How strongly slots interact, where that was asked for.
    pub interactions: Option<Vec<Interaction>>,
    /// The total width that a CDF's band should have.
    pub band_width: f64,
    /// What was noticed of the rows.
    pub noticed: Noticed,
}

/// What was noticed of a log's rows beside their sums.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Noticed {
    /// Slates that are shorter than the longest.
    pub shorter_slates: Option<u64>,
    /// Rows that are like an earlier one in all columns that are read, about.
    pub alike_rows: Option<u64>,
    /// What suggests that a column holds something else than it should, a sentence each.
    #[serde(skip)]
    pub suspicions: Vec<String>,
}

/// A role, and the columns that play it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaColumn {
    /// The role: reward, logging, target, chi, anywhere, weight, candidates, segment, cluster, slate or position.
    pub role: &'static str,
    /// The target policy it is of.
    pub policy: Option<String>,
    /// The name as given or assumed.
    pub name: String,
    /// The columns found; none for an optional one that is not there.
    pub columns: Vec<String>,
    /// What they hold.
    #[serde(rename = "type")]
    pub data_type: Option<String>,
    /// Whether it is used.
    pub used: bool,
}

#[derive(Serialize)]
struct Document<'a, S> {
    schema: &'static str,
    log: LogRecord<'a>,
    settings: &'a S,
    columns: &'a [SchemaColumn],
    unused: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    remarks: &'a [String],
    policies: Vec<PolicyRecord<'a>>,
    segments: Vec<SegmentRecord<'a>>,
    interactions: Option<&'a [Interaction]>,
    checks: Tally,
    suspicions: &'a [String],
}

#[derive(Serialize)]
struct LogRecord<'a> {
    files: usize,
    bytes: u64,
    #[serde(flatten)]
    facts: &'a slateval::LogFacts,
    reward_type: &'static str,
    #[serde(flatten)]
    noticed: &'a Noticed,
}

#[derive(Serialize)]
struct PolicyRecord<'a> {
    name: &'a str,
    structure: Option<&'a slateval::Structure>,
    correction: Option<slateval::Correction>,
    selection: Option<WithReason<'a, Selection>>,
    diagnostics: DiagnosticsRecord<'a>,
    band: BandRecord,
}

/// What a band is, and what it takes to make it narrower.
#[derive(Serialize)]
struct BandRecord {
    half_width: Option<f64>,
    wanted_width: f64,
    rows_needed: Option<u64>,
    conditional: bool,
    refuted: Option<Refutation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct SegmentRecord<'a> {
    column: &'a str,
    value: &'a Segment,
    rows: u64,
    checks: Tally,
    not_passed: Vec<NotPassed<'a>>,
}

/// A check of a segment that warned or failed.
#[derive(Serialize)]
struct NotPassed<'a> {
    policy: &'a str,
    #[serde(flatten)]
    check: CheckRecord<'a>,
}

/// The inspection as JSON, schema `slateval/inspection/1`, with the settings that made it.
///
/// # Errors
/// [`Error::Encode`] if `settings` is nothing that JSON can hold.
pub fn inspection_json(inspection: &Inspection, settings: &impl Serialize, voice: Voice) -> Result<String, Error> {
    let evaluation = &inspection.evaluation;
    encode(&Document {
        schema: "slateval/inspection/1",
        log: LogRecord {
            files: inspection.files,
            bytes: inspection.bytes,
            facts: &evaluation.log,
            reward_type: reward_type(&evaluation.log.reward),
            noticed: &inspection.noticed,
        },
        settings,
        columns: &inspection.columns,
        unused: &inspection.unused,
        remarks: &inspection.remarks,
        policies: evaluation.policies.iter().map(|p| PolicyRecord::new(p, inspection, voice)).collect(),
        segments: evaluation.segments.iter().map(|s| SegmentRecord::new(s, voice)).collect(),
        interactions: inspection.interactions.as_deref(),
        checks: Tally::of(&evaluation.policies),
        suspicions: &inspection.noticed.suspicions,
    })
}

impl<'a> PolicyRecord<'a> {
    fn new(policy: &'a PolicyEvaluation, inspection: &Inspection, voice: Voice) -> Self {
        PolicyRecord {
            name: &policy.name,
            structure: policy.structure.as_ref(),
            correction: policy.correction,
            selection: policy.selection.as_ref().map(|s| WithReason::<Selection>::new(s, voice)),
            diagnostics: DiagnosticsRecord::new(&policy.diagnostics, voice),
            band: BandRecord {
                half_width: policy.cdf.half_width,
                wanted_width: inspection.band_width,
                rows_needed: rows_needed(policy, inspection),
                conditional: policy.cdf.conditional,
                refuted: policy.cdf.refuted.clone(),
                reason: policy.cdf.reason.as_ref().map(|reason| reason.in_words(voice)),
            },
        }
    }
}

impl<'a> SegmentRecord<'a> {
    fn new(segment: &'a SegmentEvaluation, voice: Voice) -> Self {
        let not_passed = |policy: &'a PolicyEvaluation| {
            let checks = policy.diagnostics.checks.iter().filter(|check| check.status != Status::Ok);
            checks.map(|check| NotPassed { policy: &policy.name, check: CheckRecord::new(check, voice) })
        };
        SegmentRecord {
            column: &segment.column,
            value: &segment.value,
            rows: segment.rows,
            checks: Tally::of(&segment.policies),
            not_passed: segment.policies.iter().flat_map(not_passed).collect(),
        }
    }
}

/// The half-width `c` of a band falls with the square root of the rows, so that a total width `W` takes `n (2c/W)^2`.
fn rows_needed(policy: &PolicyEvaluation, inspection: &Inspection) -> Option<u64> {
    let ratio = 2.0 * policy.cdf.half_width? / inspection.band_width;
    // A hair less, for what rounding adds.
    let rows = (inspection.evaluation.log.rows as f64 * ratio * ratio * (1.0 - 1e-12)).ceil();
    // Beyond this nobody counts.
    (rows < 1e18).then_some(rows as u64)
}

fn reward_type(reward: &RewardFacts) -> &'static str {
    match reward.distinct {
        Some(1) => "constant",
        Some(2) if reward.min == 0.0 && reward.max == 1.0 => "binary",
        Some(_) => "discrete",
        None => "continuous",
    }
}

/// The inspection for people.
pub fn inspection(inspection: &Inspection, look: Look) -> String {
    let evaluation = &inspection.evaluation;
    let mut table = schema(&inspection.columns, &inspection.unused, evaluation.log.slots);
    for remark in &inspection.remarks {
        table += &format!("\n{}", wrap(remark, 1, 3));
    }
    let mut parts = vec![headline(inspection), table];
    parts.extend(evaluation.policies.iter().skip(1).map(|policy| of_policy(policy, inspection, look)));
    parts.extend(interactions(inspection, look.voice));
    parts.extend(by_segment(evaluation, look.voice));
    parts.extend(assumptions::taken_for_granted(evaluation, look.voice).map(|text| wrap(&text, 0, 0)));
    let log = &evaluation.log;
    parts.extend(skipped_parts(log));
    parts.extend((!log.ignored.is_empty()).then(|| with_items(&ignored::total(log), ignored::files(log))));
    parts.extend(inspection.noticed.suspicions.iter().map(|text| {
        let mark = mark(Status::Warn, look.style);
        wrap(&format!("{mark}  {text}"), 0, 2)
    }));
    parts.push(closing(evaluation));
    finish(parts)
}

fn headline(inspection: &Inspection) -> String {
    let log = &inspection.evaluation.log;
    let size = match inspection.bytes {
        0 => String::new(),
        size => format!(", {}", bytes(size)),
    };
    let files = match inspection.files {
        0 => String::new(),
        1 => format!("1 file{size}: "),
        n => format!("{} files{size}: ", count(n as u64)),
    };
    let d = decimals([log.reward.min, log.reward.max].into_iter());
    let (min, max) = (fixed(log.reward.min, d), fixed(log.reward.max, d));
    let rewards = match (reward_type(&log.reward), log.reward.distinct) {
        ("constant", _) => format!("constant, {min}: there is no distribution to speak of"),
        ("binary", _) => "binary, 0 and 1".to_owned(),
        (_, Some(n)) => format!("{} distinct values from {min} to {max}", count(n as u64)),
        _ => format!("continuous, from {min} to {max}"),
    };
    let shorter = match inspection.noticed.shorter_slates {
        None | Some(0) => String::new(),
        Some(1) => ", 1 slate is shorter".to_owned(),
        Some(n) => format!(", {} slates are shorter", count(n)),
    };
    let alike = match inspection.noticed.alike_rows {
        None | Some(0) => String::new(),
        Some(n) => format!("\nAlike: about {} rows are like an earlier one in all columns that are read", count(n)),
    };
    format!("{files}{}{shorter}\nRewards: {rewards}{alike}", slates(log))
}

/// What was found of a log that lacks some of the columns it needs.
pub fn columns_found(columns: &[SchemaColumn], unused: &[String]) -> String {
    schema(columns, unused, None)
}

/// Which column plays which role.
fn schema(columns: &[SchemaColumn], unused: &[String], slots: Option<usize>) -> String {
    let mut table = new_table();
    table.set_header(["role", "columns", "type", ""].map(Cell::new));
    for column in columns {
        let of = column.policy.as_deref().map_or(String::new(), |p| format!(" of {}", name(p)));
        let cells = [
            format!("{}{of}", column.role),
            columns_text(column),
            column.data_type.as_deref().map_or(DASH.to_owned(), name),
            remark(column, slots),
        ];
        table.add_row(cells.map(Cell::new));
    }
    /// More are not worth naming.
    const NAMED: usize = 12;
    let mut text = table.to_string();
    if !unused.is_empty() {
        let all = runs(unused);
        let named = &all[..all.len().min(NAMED)];
        let more = all.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += &format!("\n{}", wrap(&format!("not used: {}{more}", named.join(", ")), 1, 1));
    }
    text
}

/// Names, with `pi_1 … pi_5` for numbered ones that follow each other.
fn runs(names: &[String]) -> Vec<String> {
    let base = |name: &str| {
        let (base, number) = name.rsplit_once('_')?;
        number.parse::<usize>().is_ok().then(|| base.to_owned())
    };
    let run = |run: &[String]| match run {
        [first, .., last] => format!("{} … {}", name(first), name(last)),
        one => one.iter().map(|one| name(one)).collect(),
    };
    names.chunk_by(|a, b| base(a).is_some() && base(a) == base(b)).map(run).collect()
}

fn columns_text(column: &SchemaColumn) -> String {
    match column.columns.as_slice() {
        [] => name(&column.name),
        [one] => name(one),
        [first, second] => format!("{}, {}", name(first), name(second)),
        [first, .., last] => format!("{} … {}", name(first), name(last)),
    }
}

fn remark(column: &SchemaColumn, slots: Option<usize>) -> String {
    match (column.role, column.columns.len(), column.used) {
        ("chi", 0, _) => "not found, so control variates will be used".to_owned(),
        (_, 0, _) => "not found".to_owned(),
        ("anywhere", _, false) => "found; structure ranking would use it".to_owned(),
        ("weight", _, false) => "found; structure given would use it".to_owned(),
        ("logging" | "target" | "chi" | "anywhere", 1, _) => {
            let is_whole = column.columns[0] == column.name;
            match slots.filter(|_| is_whole) {
                Some(k) if k > 1 => format!("up to {k} slots"),
                None if is_whole => String::new(),
                _ => "1 slot".to_owned(),
            }
        }
        ("logging" | "target" | "chi" | "anywhere", n, _) => format!("{n} slots"),
        _ => String::new(),
    }
}

/// A target: what is assumed of it, every check, how its order was chosen, and what its band needs.
fn of_policy(policy: &PolicyEvaluation, inspection: &Inspection, look: Look) -> String {
    let mut table = new_table();
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH as u16);
    for check in &policy.diagnostics.checks {
        let value = check.value.map_or(DASH.to_owned(), short);
        let status = coloured(Cell::new(mark(check.status, Style::Plain)), colour(check.status, look.style));
        let message = Cell::new(look.voice.finding(&check.finding));
        table.add_row([status, Cell::new(check.name()), right(&value), message]);
    }
    let basis = basis(policy).unwrap_or_else(|| name(&policy.name));
    format!("{basis}\n{table}\n{}", band(policy, inspection, look.voice))
}

fn short(x: f64) -> String {
    if x != 0.0 && (x.abs() >= 1e7 || x.abs() < 1e-3) {
        return format!("{x:.1e}");
    }
    fixed(
        x,
        match x.abs() {
            x if x >= 100.0 => 0,
            x if x >= 1.0 => 1,
            _ => 3,
        },
    )
}

/// How wide the CDF's band is, and how many rows a narrower one takes.
fn band(policy: &PolicyEvaluation, inspection: &Inspection, voice: Voice) -> String {
    let Some(half) = policy.cdf.half_width else {
        return wrap(&without_half_width(policy, inspection, voice), 2, 4);
    };
    let (wanted, rows) = (inspection.band_width, inspection.evaluation.log.rows);
    let have = width(2.0 * half, inspection);
    let need = match rows_needed(policy, inspection) {
        None => format!("no log is long enough for a width of {wanted}"),
        Some(needed) if needed <= rows => format!("a width of {wanted} would take {} slates", count(needed)),
        Some(needed) => {
            format!("a width of {wanted} takes {} slates, {} more than there are", count(needed), count(needed - rows))
        }
    };
    let refuted = match &policy.cdf.reason {
        Some(reason) if policy.cdf.refuted.is_some() => format!("; {}", voice.reason(reason)),
        _ => String::new(),
    };
    wrap(&format!("{have}; {need}{refuted}"), 2, 4)
}

fn width(width: f64, inspection: &Inspection) -> String {
    format!("CDF band: {width:.4} wide in all at {} confidence", percent(inspection.confidence))
}

/// Why there is no band, or none without a condition.
fn without_half_width(policy: &PolicyEvaluation, inspection: &Inspection, voice: Voice) -> String {
    let reason = policy.cdf.reason.as_ref().map_or("it was not computed".to_owned(), |reason| voice.reason(reason));
    match reach(policy).filter(|_| policy.cdf.conditional) {
        Some(reach) => format!("{}; {reason}", width(2.0 * reach, inspection)),
        None => format!("CDF band: none: {reason}"),
    }
}

/// Pairs of slots, the strongest first.
fn interactions(inspection: &Inspection, voice: Voice) -> Option<String> {
    let mut pairs: Vec<&Interaction> = inspection.interactions.as_ref()?.iter().collect();
    if pairs.is_empty() {
        return Some("Interactions: there is no pair of slots to look at".to_owned());
    }
    pairs.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    let shown = &pairs[..pairs.len().min(INTERACTIONS)];
    let mut table = new_table();
    let [slots, policy, verdict] = ["interacting slots", "policy", ""].map(Cell::new);
    let [strength, critical] = ["strength", "critical"].map(right);
    table.set_header([slots, policy, strength, critical, verdict]);
    for pair in shown {
        let verdict = if pair.active { "they interact" } else { "no more than noise" };
        table.add_row(vec![
            Cell::new(format!("{}+{}", pair.slots[0], pair.slots[1])),
            Cell::new(name(&pair.policy)),
            right(&format!("{:.4}", pair.strength)),
            right(&format!("{:.4}", pair.critical)),
            Cell::new(verdict),
        ]);
    }
    let more = pairs.len() - shown.len();
    let more = if more > 0 { format!("\n … and {more} weaker ones, in the JSON") } else { String::new() };
    Some(format!("{table}{more}{}", advice(&pairs, voice)))
}

/// More pairs than this are a file's business.
const INTERACTIONS: usize = 20;

/// A structure that allows what was found.
fn advice(pairs: &[&Interaction], voice: Voice) -> String {
    let mut active: Vec<[usize; 2]> = pairs.iter().filter(|p| p.active).map(|p| p.slots).collect();
    active.sort_unstable();
    active.dedup();
    if active.is_empty() {
        return "\n No two slots are shown to interact.".to_owned();
    }
    let sets: Vec<String> = active.iter().map(|[a, b]| format!("{a}+{b}")).collect();
    let structure = voice.setting("structure", &format!("interactions:{}", sets.join(",")));
    format!("\n{}", wrap(&format!("`{structure}` allows these and no others"), 1, 1))
}

fn by_segment(evaluation: &Evaluation, voice: Voice) -> Option<String> {
    let first = evaluation.segments.first()?;
    let text = format!("{} segments by {}", count(evaluation.segments.len() as u64), name(&first.column));
    Some(wrap(&format!("{text}: checks: {}", in_segments(evaluation, voice)), 0, 2))
}

/// The last line says what matters most.
fn closing(evaluation: &Evaluation) -> String {
    let (failed, warned) = (names(evaluation, Status::Fail), names(evaluation, Status::Warn));
    let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let failures = plural(failed.len(), "check failed", "checks failed");
    let warnings = plural(warned.len(), "warning", "warnings");
    match (failed.len(), warned.len()) {
        (0, 0) => format!("All {} checks passed.", Tally::of(&evaluation.policies).passed),
        (_, 0) => format!("{failures}: {}.", failed.join(", ")),
        (0, _) => format!("No check failed, {warnings}: {}.", warned.join(", ")),
        _ => format!("{failures}: {}; {warnings}: {}.", failed.join(", "), warned.join(", ")),
    }
}
