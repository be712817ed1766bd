//! The page and the plot, of summaries made here.
#![allow(clippy::unwrap_used)]

use slateval::{
    Block, Bounds, CdfBand, Check, CheckName, Effects, Evaluation, Field, Finding, Functional, Interval, Profile,
    Reason, Refutation, Remedy, Segment, Settings, Spec, Status, Structure, Summary, Untested,
};
use slateval_report::{CdfPoints, Picture, Report, Voice, html, notebook, picture, svg};
use slateval_testing::uniform;

const ADDITIVE: Refutation = Refutation::Structure(Structure::Additive);
const WRONG: Reason = Reason::Refuted { effects: Effects { slots: 3, and_above: false } };

/// Two slots of two actions, shown equally often. One of the two slots, by chance, decides over the reward, so that its
/// CDF is additive; `round` makes rewards of it.
fn summary(targets: &[&str], rows: usize, by: Option<&str>, round: fn(f64) -> f64) -> Summary {
    let name = |row: usize| if row.is_multiple_of(2) { "<b>even</b>".to_owned() } else { "odd".to_owned() };
    segmented(targets, rows, by, round, &name)
}

/// The same with segments of one's own, by row.
fn segmented(
    targets: &[&str],
    rows: usize,
    by: Option<&str>,
    round: fn(f64) -> f64,
    name: &dyn Fn(usize) -> String,
) -> Summary {
    let mut spec = Spec::new(Structure::Additive, targets.iter().copied());
    spec.by = by.map(str::to_owned);
    spec.baseline = targets.get(2).map(|_| targets[0].to_owned());
    let mut summary = Summary::new(spec).unwrap();
    let mut random = uniform(7);
    let mut block = Block::new(summary.spec());
    let mut left = rows;
    while left > 0 {
        let n = left.min(Block::ROWS);
        block.reset(n, 2);
        let good: Vec<[bool; 2]> = (0..n).map(|_| [random() < 0.5, random() < 0.5]).collect();
        let effect = |g: &[bool; 2], first: bool| if first { f64::from(g[0]) } else { 0.5 * f64::from(g[1]) };
        let rewards: Vec<f64> = good.iter().map(|g| round(random() + 2.0 * effect(g, random() < 0.5))).collect();
        block.column_mut(Field::Reward).copy_from_slice(&rewards);
        for slot in 0..2 {
            block.column_mut(Field::Logging { slot }).fill(0.5);
            for policy in 0..targets.len() {
                let lean = 0.6 + 0.1 * policy as f64;
                let pi: Vec<f64> = good.iter().map(|g| if g[slot] { lean } else { 1.0 - lean }).collect();
                block.column_mut(Field::Target { policy, slot }).copy_from_slice(&pi);
            }
        }
        if by.is_some() {
            for row in 0..n {
                block.set_segment(row, &Segment::Text(name(rows - left + row)));
            }
        }
        summary.add(&block).unwrap();
        left -= n;
    }
    summary
}

struct Made {
    evaluation: Evaluation,
    profile: Profile,
    settings: Settings,
}

impl Made {
    fn new(summary: &Summary) -> Self {
        let mut settings = Settings::default();
        settings.draws = 200;
        Made::with(summary, settings)
    }

    fn with(summary: &Summary, settings: Settings) -> Self {
        Made {
            evaluation: summary.evaluate(&settings).unwrap(),
            profile: summary.profile(&Profile::levels(&settings), &settings).unwrap(),
            settings,
        }
    }

    fn report(&self) -> Report<'_, Settings> {
        Report {
            evaluation: &self.evaluation,
            profile: &self.profile,
            settings: &self.settings,
            record: &self.settings,
            command: "slateval evaluate '<log>.parquet'",
            voice: Voice::CommandLine,
        }
    }

    fn html(&self) -> String {
        html(&self.report()).unwrap()
    }
}

#[test]
fn three_targets_and_thousands_of_bins_make_a_small_page() {
    let made = Made::new(&summary(&["a", "b", "c"], 40_000, None, |x| x));
    assert!(made.evaluation.policies[0].cdf.reward.len() > 2000);
    let page = made.html();
    assert!(page.len() < 500_000, "{} bytes", page.len());
    assert!(page.contains("--cdf and --json --full-cdf"), "it says that CDFs are thinned");
    assert_eq!(page, made.html(), "the same input gives the same bytes");
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing to fetch");
}

#[test]
fn segments_however_many_leave_the_page_small() {
    let name = |row: usize| format!("segment number {}", row % 3);
    let mut made = Made::new(&segmented(&["a", "b", "c"], 12_000, Some("by"), |x| x, &name));
    let three = made.evaluation.segments.clone();
    assert_eq!((three.len(), made.evaluation.comparisons.len()), (3, 5));
    let mut left_out = Vec::new();
    for segments in [3, 10, 30, 100, 1000] {
        made.evaluation.segments = three.iter().cycle().take(segments).cloned().collect();
        for (i, segment) in made.evaluation.segments.iter_mut().enumerate() {
            segment.value = Segment::Text(format!("segment number {i} <of many>"));
        }
        let page = made.html();
        assert!(page.len() < 500_000, "{segments} segments: {} bytes", page.len());
        let json: serde_json::Value = serde_json::from_str(embedded(&page, "evaluation")).unwrap();
        let kept = json["segments"].as_array().unwrap();
        let without_cdfs = kept.iter().all(|s| s["policies"][0]["cdf"]["reward"].as_array().unwrap().is_empty());
        assert_eq!(page.contains("The downloads have no segments"), kept.is_empty());
        assert_eq!(page.contains("The downloads have no CDFs of segments"), !kept.is_empty() && without_cdfs);
        assert!(kept.is_empty() || kept.len() == segments, "all or none");
        left_out.push((kept.is_empty(), without_cdfs));
    }
    assert_eq!((left_out[0], left_out[4]), ((false, false), (true, true)));

    // Marks and their reasons take room too.
    made.evaluation.segments.truncate(100);
    (1..4).for_each(|target| refuted(&mut made, target));
    let mark = |interval: &mut Interval| (interval.refuted, interval.reason) = (Some(ADDITIVE), Some(WRONG));
    for segment in &mut made.evaluation.segments {
        segment.policies.iter_mut().for_each(|p| mark(&mut p.mean));
        segment.comparisons.iter_mut().for_each(|c| mark(&mut c.mean));
    }
    assert!(made.html().len() < 500_000, "{} bytes", made.html().len());
}

#[test]
fn tails_are_exact_at_the_levels_asked_for() {
    let made = Made::new(&summary(&["new"], 4_000, None, |x| x));
    let page = made.html();
    let tails: serde_json::Value = serde_json::from_str(embedded(&page, "tail-data")).unwrap();
    for tail in &made.evaluation.policies[1].cvar {
        let levels = tails["levels"].as_array().unwrap();
        let at = levels.iter().position(|level| level.as_f64() == Some(tail.alpha)).unwrap();
        let cvar = &tails["policies"][1]["cvar"];
        for (end, value) in
            [("estimate", tail.interval.estimate), ("lower", tail.interval.lower), ("upper", tail.interval.upper)]
        {
            // Reading JSON may miss the last bit.
            let (shown, exact) = (cvar[end][at].as_f64().unwrap(), value.unwrap());
            assert!((shown - exact).abs() <= 2.0 * f64::EPSILON * exact.abs(), "{end}: {shown} {exact}");
        }
    }
}

#[test]
fn cdfs_in_the_page_share_their_rewards() {
    let made = Made::new(&summary(&["new", "other"], 4_000, None, |x| x));
    let page = made.html();
    let json: serde_json::Value = serde_json::from_str(embedded(&page, "evaluation")).unwrap();
    let rewards = &json["policies"][0]["cdf"]["reward"];
    assert!(rewards.as_array().unwrap().len() > 200);
    assert!((1..3).all(|i| &json["policies"][i]["cdf"]["reward"] == rewards));
}

/// JSON that a page carries.
fn embedded<'p>(page: &'p str, id: &str) -> &'p str {
    page.split(&format!("id=\"{id}\">")).nth(1).unwrap().split("</script>").next().unwrap()
}

#[test]
fn discrete_rewards_are_all_there() {
    let made = Made::new(&summary(&["new"], 2_000, None, f64::floor));
    let page = made.html();
    assert!(!page.contains("--cdf and --json --full-cdf"));
    let found: serde_json::Value = serde_json::from_str(embedded(&page, "evaluation")).unwrap();
    let whole = slateval_report::json(&made.evaluation, &made.settings, Voice::CommandLine, CdfPoints::Every).unwrap();
    assert_eq!(found, serde_json::from_str::<serde_json::Value>(&whole).unwrap());
}

#[test]
fn names_are_text_everywhere() {
    let rude = "</script><script>alert(1)</script>";
    let made = Made::new(&summary(&[rude], 4_000, Some("<i>by</i>"), f64::floor));
    let page = made.html();
    assert!(!page.contains("<script>alert") && !page.contains("<b>even") && !page.contains("<i>by"));
    assert!(page.contains("&lt;b&gt;even&lt;/b&gt;") && page.contains("&#39;&lt;log&gt;.parquet&#39;"));
    // Two of data, one that runs.
    assert_eq!((page.matches("<script").count(), page.matches("</script>").count()), (3, 3));
    let drawing = svg(&made.evaluation, &made.profile, &made.settings);
    assert!(drawing.contains("&lt;/script&gt;") && !drawing.contains("<script"));
    let frame = notebook(&made.report()).unwrap();
    let own = notebook(&Made::new(&summary(&["new"], 400, None, f64::floor)).report()).unwrap();
    assert_eq!(frame.matches('<').count(), own.matches('<').count(), "the same elements, whatever the names");
}

fn headline(made: &Made) -> String {
    let page = made.html();
    page.split("class=\"headline\">").nth(1).unwrap().split("</p>").next().unwrap().to_owned()
}

fn interval(estimate: f64, lower: f64, upper: f64) -> Interval {
    Interval { estimate: Some(estimate), lower: Some(lower), upper: Some(upper), ..Interval::default() }
}

#[test]
fn the_headline_is_honest() {
    let mut made = Made::new(&summary(&["new"], 2_000, None, f64::floor));
    made.evaluation.policies[1].diagnostics.checks.clear();
    made.evaluation.policies[0].mean = interval(2.0, 1.9, 2.1);
    made.evaluation.policies[0].cvar[1].interval = interval(0.5, 0.45, 0.55);
    let set = |made: &mut Made, mean: Interval, tail: Interval| {
        made.evaluation.comparisons[0].mean = mean;
        made.evaluation.comparisons[0].cvar[1].interval = tail;
    };
    set(&mut made, interval(0.082, 0.04, 0.126), interval(-0.006, -0.02, 0.0075));
    assert_eq!(
        headline(&made),
        "new: mean +4.1% [+2.0, +6.3] against logging: shown to be better; worst 10% of slates −1.2% [−4.0, +1.5]: \
         not shown to be better or worse."
    );

    // A baseline about which little is known is no measure.
    made.evaluation.policies[0].cvar[1].interval = interval(0.01, -0.02, 0.04);
    set(&mut made, interval(-0.082, -0.126, -0.04), interval(-0.006, -0.02, 0.008));
    assert_eq!(
        headline(&made),
        "new: mean −4.1% [−6.3, −2.0] against logging: shown to be worse; worst 10% of slates −0.006 [−0.020, +0.008] \
         in units of the reward: not shown to be better or worse."
    );

    made.evaluation.comparisons[0].mean = Interval {
        lower: None,
        upper: None,
        reason: Some(Reason::FewRows { rows: 4.0, needed: 10.0 }),
        ..interval(0.1, 0.0, 0.0)
    };
    assert!(
        headline(&made).contains("against logging: cannot tell (the log is worth only 4.0 rows"),
        "{}",
        headline(&made)
    );

    set(&mut made, interval(-0.082, -0.126, -0.04), interval(0.0, 0.0, 0.0));
    made.evaluation.policies[0].cvar[1].interval = interval(0.0, 0.0, 0.0);
    // Few distinct rewards, and tails that are all alike: a probability says more.
    assert!(headline(&made).contains("; slates with a reward of at least 1 +"), "{}", headline(&made));
    made.evaluation.log.reward.distinct = None;
    assert!(headline(&made).ends_with("; worst 10% of slates: the same (0)."), "{}", headline(&made));

    // Too small for percents.
    set(&mut made, interval(0.00002, 0.00001, 0.00003), interval(0.0, 0.0, 0.0));
    assert!(headline(&made).starts_with("new: mean +0.000020 [+0.000010, +0.000030] in units of the reward against"));
}

/// An evaluation at the additive order whose intervals hold only if it does.
fn conditional(made: &mut Made, target: usize) {
    let reason = Reason::Untested { order: 1, why: Untested::NoTest };
    let change = |interval: &mut Interval| {
        interval.if_order_holds = Some(Bounds { lower: interval.lower.take(), upper: interval.upper.take() });
        (interval.conditional, interval.reason) = (true, Some(reason.clone()));
    };
    each_interval(made, target, &change);
    let cdf = &mut made.evaluation.policies[target].cdf;
    let none = vec![None; cdf.reward.len()];
    let (lower, upper) = (std::mem::replace(&mut cdf.lower, none.clone()), std::mem::replace(&mut cdf.upper, none));
    cdf.if_order_holds = Some(CdfBand { lower, upper });
    (cdf.conditional, cdf.half_width, cdf.reason) = (true, None, Some(reason.clone()));
}

/// One whose structure the log contradicts.
fn refuted(made: &mut Made, target: usize) {
    let reason = WRONG;
    each_interval(made, target, &|interval| {
        (interval.refuted, interval.reason) = (Some(ADDITIVE), Some(reason.clone()));
    });
    let target = &mut made.evaluation.policies[target];
    (target.cdf.refuted, target.cdf.reason) = (Some(ADDITIVE), Some(reason.clone()));
    let check = Check::new(
        Status::Fail,
        None,
        Finding::StructureRefuted { why: reason, spoils: vec![Functional::Mean], remedy: Remedy::Structure },
    );
    target.diagnostics.checks = vec![check];
}

/// Changes every interval of a target, and of its comparison with logging.
fn each_interval(made: &mut Made, target: usize, change: &dyn Fn(&mut Interval)) {
    let of = &mut made.evaluation.policies[target];
    let tails = of.var.iter_mut().chain(&mut of.cvar).map(|t| &mut t.interval);
    let own = [&mut of.mean, &mut of.variance, &mut of.std, &mut of.iqr].into_iter();
    let probabilities = of.probabilities.iter_mut().map(|p| &mut p.interval);
    own.chain(tails).chain(probabilities).chain(of.quantiles.iter_mut().map(|q| &mut q.interval)).for_each(change);
    let against = &mut made.evaluation.comparisons[target - 1];
    against.dominance = None;
    let tails = against.cvar.iter_mut().map(|t| &mut t.interval);
    [&mut against.mean]
        .into_iter()
        .chain(tails)
        .chain(against.quantiles.iter_mut().map(|q| &mut q.interval))
        .chain(against.probabilities.iter_mut().map(|p| &mut p.interval))
        .for_each(change);
    let (own, against) = (&mut made.profile.policies[target], &mut made.profile.comparisons[target - 1]);
    let differences = against.cvar.iter_mut().chain(&mut against.quantiles).chain(&mut against.quantile_band);
    own.var.iter_mut().chain(&mut own.cvar).chain(differences).for_each(change);
}

#[test]
fn conditional_intervals_are_shown_and_claim_nothing() {
    let mut made = Made::new(&summary(&["new"], 8_000, Some("by"), |x| x));
    assert!(headline(&made).contains("shown to be better"));
    conditional(&mut made, 1);
    let (words, page) = (headline(&made), made.html());
    assert!(
        !words.contains("shown") && words.contains(")? against logging: cannot tell (holds if slots do not"),
        "{words}"
    );
    assert_eq!(words.matches("too thin to tell").count(), 1, "{words}");
    assert!(page.contains("(…)? holds only under the condition that the sentence names"), "the cards' note");
    assert!(page.contains("<li>(…)? holds if slots do not interact: this log is too thin to tell"), "the tables' note");
    assert!(
        page.contains("title=\"holds if slots do not interact: this log is too thin to tell (effects of more slots could not be tested)\">("),
        "the hover note"
    );
    assert!(page.contains("Dashed: for new, the band holds if slots do not interact"), "the charts' captions");
    assert!(page.contains("new: cannot tell (holds if slots do not interact"), "the list of quantiles");
    // Twice each: for desks and for phones.
    let chart =
        |id: &str| page.split(&format!("<figure id=\"{id}\">")).nth(1).unwrap().split("</figure>").next().unwrap();
    for id in ["cdf-chart", "tail-chart", "quantile-chart"] {
        assert_eq!(chart(id).matches("class=\"edge s1\"").count(), 4, "{id}");
        assert_eq!(chart(id).matches("class=\"band s1\"").count(), 0, "{id}");
    }
    assert!(!chart("quantile-chart").contains("difference is shown"), "no band stands");
    let tails: serde_json::Value = serde_json::from_str(embedded(&page, "tail-data")).unwrap();
    assert_eq!(tails["policies"][1]["cvar"]["mark"]["close"], ")?");
    assert!(tails["policies"][1]["cvar"]["lower"][20].is_f64() && tails["policies"][0]["cvar"]["mark"].is_null());
    let drawing = svg(&made.evaluation, &made.profile, &made.settings);
    assert!(drawing.contains("Dashed: for new, the band holds if") && drawing.contains("stroke-dasharray=\"2 3\""));
}

#[test]
fn refuted_intervals_are_shown_and_claim_nothing() {
    let mut made = Made::new(&summary(&["new"], 8_000, None, |x| x));
    refuted(&mut made, 1);
    let (words, page) = (headline(&made), made.html());
    assert!(words.starts_with("Do not rely on this: check not passed (structure). new: mean"), "{words}");
    assert!(words.contains("]! against logging: cannot tell (the log contradicts this structure: effects"), "{words}");
    assert!(!words.contains("shown"), "{words}");
    assert!(page.contains("[…]! shows nothing: the log contradicts the structure"), "the cards' note");
    assert!(
        page.contains("<li>[…]! the log contradicts this structure: effects of 3 slots show in it"),
        "the tables' note"
    );
    assert!(page.contains("Do not rely on the band for new: the log contradicts this structure"), "the captions");
    assert!(page.contains("class=\"band s1\"") && !page.contains("class=\"edge s1\""));
    assert!(svg(&made.evaluation, &made.profile, &made.settings).contains("Do not rely on the band for new"));
}

fn thin_tail() -> Finding {
    Finding::TailRows { alpha: 0.1, rows: 4.0, is_enough: false }
}

#[test]
fn checks_decide_what_the_headline_may_say() {
    let mut made = Made::new(&summary(&["new"], 2_000, None, f64::floor));
    made.evaluation.comparisons[0].mean = interval(0.082, 0.04, 0.126);
    let mut said = |finding: &Finding, status: Status| {
        let check = Check::new(status, None, finding.clone());
        let (name, policy) = (check.name(), "new".to_owned());
        let reason = Reason::CheckNotPassed { check: name, policy, in_whole_log: false };
        let mark = check.spoils().then_some((Refutation::Check(name), reason)).unzip();
        made.evaluation.policies[1].diagnostics.checks = vec![check];
        each_interval(&mut made, 1, &|interval| (interval.refuted, interval.reason) = mark.clone());
        headline(&made)
    };
    let wrong = Finding::RatioMean { slot: None, mean: 2.0, deviation: 9.0, is_given: false };
    let dependent = Finding::SlotsLookDependent { deviation: 9.0, pool: None, remedy: Remedy::Structure };
    for (finding, status) in
        [(&wrong, Status::Fail), (&Finding::PaperOrderIsBiased(2), Status::Warn), (&dependent, Status::Warn)]
    {
        let (name, words) = (finding.name(), said(finding, status));
        assert!(words.starts_with(&format!("Do not rely on this: check not passed ({name}). new: mean")), "{words}");
        assert!(words.contains("cannot tell;") && !words.contains("shown"), "{words}");
        assert!(!words.contains("did not pass"), "the caution has said which: {words}");
    }
    let words = said(&thin_tail(), Status::Fail);
    assert!(words.starts_with("With caution: check failed (tail). new: mean") && words.contains("shown to be better"));
    assert!(said(&wrong, Status::Warn).starts_with("With caution: check to look at (propensities)."));
}

/// Segments are counted by what their intervals show, and named; an estimate alone shows nothing.
#[test]
fn the_result_says_where_a_target_gains_loses_or_cannot_be_told() {
    let name = |row: usize| format!("part {}", row % 4);
    let mut made = Made::new(&segmented(&["new"], 8_000, Some("by"), |x| x, &name));
    let ends = [(0.1, 0.05, 0.15), (-0.1, -0.15, -0.05), (0.01, -0.1, 0.12), (0.1, 0.05, 0.15)];
    for (segment, (estimate, lower, upper)) in made.evaluation.segments.iter_mut().zip(ends) {
        segment.comparisons[0].mean = interval(estimate, lower, upper);
    }
    let marked = &mut made.evaluation.segments[3].comparisons[0].mean;
    (marked.refuted, marked.reason) = (Some(Refutation::Check(CheckName::Bias)), Some(WRONG));
    let page = made.html();
    let result = page.split("<section id=\"result\"").nth(1).unwrap().split("</section>").next().unwrap();
    let expected = "new, mean: of 4 segments, shown to gain in 1 (part 0), shown to lose in 1 (part 1), cannot be told in 2 \
                    (part 2, part 3). Largest shown loss: part 1, −0.10";
    assert!(result.contains(expected), "{result}");
    assert!(
        result.contains("Largest shown gain: part 0, +0.10") && result.contains("worst 10% of slates: of 4 segments")
    );
    // No interval, no claim, whatever the estimate's sign.
    for segment in &mut made.evaluation.segments {
        segment.comparisons[0].mean = interval(0.1, -0.1, 0.3);
    }
    let page = made.html();
    let none = "new, mean: of 4 segments, shown to gain in none, shown to lose in none, cannot be told in 4 (part 0, part 1, \
                part 2, part 3).</li>";
    assert!(page.contains(none), "{page}");
    assert!(!page.contains("No loss") && !page.contains("no telling"));
}

#[test]
fn bernstein_bands_are_bands() {
    let mut settings = Settings::default();
    settings.band = slateval::Band::Bernstein;
    let made = Made::with(&summary(&["new"], 8_000, None, |x| x), settings);
    let page = made.html();
    assert!(!page.contains("There are no bands") && page.contains("Each shaded band holds"));
    assert!(page.contains("There is no band of differences"));
    let words = headline(&made);
    assert!(words.contains("cannot tell (--band bernstein gives no interval of differences)"), "{words}");
    assert!(svg(&made.evaluation, &made.profile, &made.settings).contains("Bands hold everywhere at once"));
}

#[test]
fn a_page_without_intervals_or_targets_of_use_still_reads() {
    let summary = summary(&["new"], 1, None, f64::floor);
    let page = Made::new(&summary).html();
    assert!(page.contains("cannot tell"), "one row carries nothing");
    let mut settings = Settings::default();
    settings.band = slateval::Band::None;
    settings.alphas.clear();
    settings.quantiles.clear();
    let made = Made {
        evaluation: summary.evaluate(&settings).unwrap(),
        profile: summary.profile(&Profile::levels(&settings), &settings).unwrap(),
        settings,
    };
    assert!(made.html().contains("There are no bands"));
}

#[test]
fn plots_are_the_same_every_time() {
    let made = Made::new(&summary(&["neu ä Ω ж", "b"], 4_000, None, |x| x));
    let Made { evaluation, profile, settings } = &made;
    let drawing = svg(evaluation, profile, settings);
    assert!(drawing.starts_with("<svg xmlns=") && !drawing.contains("var(") && !drawing.contains("class="));
    assert_eq!(drawing, svg(evaluation, profile, settings));
}

#[cfg(feature = "png")]
#[test]
fn pictures_are_the_same_every_time() {
    use slateval_report::png;
    let made = Made::new(&summary(&["neu ä Ω ж", "b"], 4_000, None, |x| x));
    let Made { evaluation, profile, settings } = &made;
    let picture = png(evaluation, profile, settings).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    let side = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    assert_eq!(side(16), 2240, "two panels of 560, two pixels each");
    assert_eq!(picture, png(evaluation, profile, settings).unwrap());
}

#[test]
fn pictures_are_chosen_by_name() {
    let made = Made::new(&summary(&["new"], 2_000, Some("by"), f64::floor));
    let draw = |pictures: &[Picture]| picture(pictures, &made.evaluation, Some(&made.profile), &made.settings);
    assert_eq!(
        draw(&[Picture::Cdf, Picture::Difference]),
        svg(&made.evaluation, &made.profile, &made.settings),
        "the plot of the command line"
    );
    for (chosen, title) in [
        (Picture::Cdf, "share of slates with at most this reward"),
        (Picture::Difference, "level of the quantile, in percent"),
        (Picture::Tails, "mean reward of the worst slates"),
        (Picture::Segments, "mean minus logging’s"),
        (Picture::Weights, "weight of a slate"),
    ] {
        assert_eq!(Picture::named(chosen.name()), Some(chosen));
        let drawing = draw(&[chosen]);
        assert!(drawing.contains(title) && !drawing.contains("NaN"), "{}", chosen.name());
        // Only bands of the CDF and of quantiles hold everywhere at once.
        let at_once = matches!(chosen, Picture::Cdf | Picture::Difference);
        assert_eq!(drawing.contains("Bands hold everywhere at once"), at_once, "{}", chosen.name());
    }
    assert_eq!(Picture::named("tail"), None);
    let without = picture(&[Picture::Tails], &made.evaluation, None, &made.settings);
    assert!(without.starts_with("<svg") && !without.contains("worst slates"));
}
