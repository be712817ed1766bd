//! The page and the plot, of summaries made here.
#![allow(clippy::unwrap_used)]

use slateval::{Block, Evaluation, Field, Interval, Profile, Segment, Settings, Spec, Status, Structure, Summary};
use slateval_report::{Report, html, notebook, png, svg};

/// Numbers in [0, 1) that are the same every time.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Two slots of two actions, shown equally often; `round` makes rewards of it.
fn summary(targets: &[&str], rows: usize, by: Option<&str>, round: fn(f64) -> f64) -> Summary {
    let mut spec = Spec::new(Structure::Additive, targets.iter().copied());
    spec.by = by.map(str::to_owned);
    let mut summary = Summary::new(spec).unwrap();
    let mut random = random(7);
    let mut block = Block::new(summary.spec());
    let mut left = rows;
    while left > 0 {
        let n = left.min(Block::ROWS);
        block.reset(n, 2);
        let good: Vec<[bool; 2]> = (0..n).map(|_| [random() < 0.5, random() < 0.5]).collect();
        let rewards: Vec<f64> =
            good.iter().map(|g| round(random() + f64::from(g[0]) + 0.5 * f64::from(g[1]))).collect();
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
                let value = if row % 2 == 0 { "<b>even</b>" } else { "odd" };
                block.set_segment(row, &Segment::Text(value.to_owned()));
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
    assert!(page.contains("--json and --cdf"), "it says that CDFs are thinned");
    assert_eq!(page, made.html(), "the same input gives the same bytes");
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing to fetch");
}

#[test]
fn discrete_rewards_are_all_there() {
    let made = Made::new(&summary(&["new"], 2_000, None, f64::floor));
    let page = made.html();
    assert!(!page.contains("--json and --cdf"));
    let json = page.split("id=\"evaluation\">").nth(1).unwrap().split("</script>").next().unwrap();
    let found: serde_json::Value = serde_json::from_str(json).unwrap();
    let whole = slateval_report::json(&made.evaluation, &made.settings).unwrap();
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
    assert_eq!(frame.matches('<').count(), 2, "one element, whatever the names");
}

fn headline(made: &Made) -> String {
    let page = made.html();
    page.split("class=\"headline\">").nth(1).unwrap().split("</p>").next().unwrap().to_owned()
}

fn interval(estimate: f64, lower: f64, upper: f64) -> Interval {
    Interval { estimate: Some(estimate), lower: Some(lower), upper: Some(upper), if_order_holds: None, reason: None }
}

#[test]
fn the_headline_is_honest() {
    let mut made = Made::new(&summary(&["new"], 2_000, None, f64::floor));
    made.evaluation.policies[1].diagnostics.checks.retain(|c| c.status == Status::Ok);
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
        "new: mean −4.1% [−6.3, −2.0] against logging: shown to be worse; worst 10% of slates −0.006 [−0.020, +0.008]: \
         not shown to be better or worse."
    );

    made.evaluation.comparisons[0].mean =
        Interval { lower: None, upper: None, reason: Some("too few rows".into()), ..interval(0.1, 0.0, 0.0) };
    assert!(headline(&made).contains("against logging: cannot tell (too few rows);"), "{}", headline(&made));

    let check = &mut made.evaluation.policies[1].diagnostics.checks[0];
    check.status = Status::Warn;
    let name = check.name;
    assert!(headline(&made).starts_with(&format!("With caution: check to look at ({name}). new: mean")));
    made.evaluation.policies[1].diagnostics.checks[0].status = Status::Fail;
    assert!(headline(&made).starts_with(&format!("Do not rely on this: check failed ({name}). new: mean")));
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
    let picture = png(evaluation, profile, settings).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    let side = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    assert_eq!(side(16), 2240, "two panels of 560, two pixels each");
    assert_eq!(picture, png(evaluation, profile, settings).unwrap());
}
