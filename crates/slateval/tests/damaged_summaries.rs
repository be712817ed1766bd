//! Summaries that were made up or damaged, with a checksum that fits: refused by section, or read. Those of real
//! rows, however odd, are read.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use common::{Random, Slate, contextual_log, summarise};
use proptest::prelude::*;
use slateval::{Band, Binning, Error, Scale, Settings, Slates, Spec, Structure, Summary};

const PREAMBLE: usize = 20;
const CHECKSUM: usize = 4;

/// A summary of 200 rows with so many different rewards.
fn summary(distinct: usize, bins: usize) -> Summary {
    let reward: Vec<f64> = (0..200).map(|i| 1.0 + (i % distinct) as f64 / 8.0).collect();
    let mu = vec![[0.5, 0.25]; reward.len()];
    let pi: Vec<[f64; 2]> = (0..reward.len()).map(|i| [0.1 + 0.04 * (i % 20) as f64, 0.25]).collect();
    let binning = Binning { capacity: bins, ..Binning::default() };
    let spec = Spec::new(Structure::Auto, ["new"]).with_binning(binning);
    let mut summary = Summary::new(spec).unwrap();
    Slates::new(&reward).logging(&mu).target("new", &pi).add_to(&mut summary).unwrap();
    summary
}

/// The same bytes with other words in the header.
fn crafted(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[12..PREAMBLE].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[PREAMBLE..PREAMBLE + length]).unwrap();
    assert!(header.contains(from), "{from} in {header}");
    let header = header.replacen(from, to, 1);
    let rest = &bytes[PREAMBLE + length..bytes.len() - CHECKSUM];
    let size = (header.len() as u64).to_le_bytes();
    let mut made = [&bytes[..12], &size, header.as_bytes(), rest].concat();
    made.extend(crc32fast::hash(&made).to_le_bytes());
    made
}

/// Whatever is read must be usable: evaluated, merged, written again.
fn is_dealt_with(bytes: &[u8], good: &Summary, what: &str) {
    if let Ok(mut read) = Summary::from_bytes(bytes) {
        assert!(Summary::from_bytes(&read.to_bytes()).is_ok(), "{what}: what was read is written as it was");
        let _ = read.evaluate(&Settings::default().with_band(Band::None));
        let _ = read.merge(good);
        let _ = read.evaluate(&Settings::default().with_band(Band::None));
        read.to_bytes();
        let mut other = good.clone();
        let _ = other.merge(&read);
    }
}

#[test]
fn numbers_that_were_made_up_are_refused_or_read() {
    let (exact, one, binned) = (summary(20, 4096), summary(1, 4096), summary(150, 32));
    let binned_width = {
        let text = String::from_utf8_lossy(&binned.to_bytes()).into_owned();
        let at = text.find("\"width\":").unwrap();
        text[at..].split('}').next().unwrap().to_owned()
    };
    for width in ["0", "1", "-1", "1000", "-1020", "1001", "2147483647", "-2147483648", "63", "-63"] {
        let to = format!("{{\"width\":{width}}}");
        for good in [&exact, &one] {
            is_dealt_with(&crafted(&good.to_bytes(), "\"exact\"", &to), good, &to);
        }
        let other = format!("\"width\":{width}");
        if other == binned_width {
            continue;
        }
        let made = crafted(&binned.to_bytes(), &binned_width, &other);
        assert!(Summary::from_bytes(&made).is_err(), "bins of width 2^-({width}) in place of {binned_width}");
    }
    for (from, to) in [
        ("\"exact\"", "{\"shift\":0}"),
        ("\"exact\"", "{\"shift\":63}"),
        ("\"capacity\":4096", "\"capacity\":1"),
        ("\"capacity\":4096", "\"capacity\":0"),
        ("\"capacity\":4096", "\"capacity\":1099511627776"),
        ("\"capacity\":4096", "\"capacity\":18446744073709551615"),
        ("\"slots\":2", "\"slots\":0"),
        ("\"slots\":2", "\"slots\":3"),
        ("\"slots\":2", "\"slots\":1000000"),
        ("\"slots\":2", "\"slots\":18446744073709551615"),
        ("\"bins\":20", "\"bins\":0"),
        ("\"bins\":20", "\"bins\":1000000000"),
        ("\"bins\":20", "\"bins\":18446744073709551615"),
        ("\"rows\":200", "\"rows\":0"),
        ("\"rows\":200", "\"rows\":18446744073709551615"),
        ("\"structure\":\"auto\"", "\"structure\":\"order:1000000\""),
        ("\"structure\":\"auto\"", "\"structure\":\"ranking:18446744073709551615\""),
        ("\"structure\":\"auto\"", "\"structure\":\"interactions:1+1000000\""),
        ("\"structure\":\"auto\"", "\"structure\":\"paper-order:4000000000\""),
        ("\"cluster\":null", "\"cluster\":\"user\""),
        ("\"by\":null", "\"by\":\"x\""),
        ("\"interactions\":false", "\"interactions\":true"),
    ] {
        is_dealt_with(&crafted(&exact.to_bytes(), from, to), &exact, to);
    }
}

/// Sums of them would overflow.
#[test]
fn more_left_out_than_any_log_has_is_refused() {
    let good = summary(20, 4096);
    let most =
        "\"counts\":[{\"reason\":\"unreadable-file\",\"rows\":18446744073709551615,\"files\":18446744073709551615}]";
    let skipped = format!("\"skipped\":{{{most},\"examples\":[],\"files\":[]}},\"spec\"");
    let made = crafted(&good.to_bytes(), "\"spec\"", &skipped);
    let refusal = Summary::from_bytes(&made).unwrap_err().to_string();
    assert!(refusal.contains("what was left out of it"), "{refusal}");
}

/// Where the numbers of a summary begin.
fn payload(bytes: &[u8]) -> usize {
    PREAMBLE + u64::from_le_bytes(bytes[12..PREAMBLE].try_into().unwrap()) as usize
}

/// The places of all numbers of a summary: floats, and the bins' keys.
fn places(bytes: &[u8]) -> impl Iterator<Item = usize> + use<> {
    (payload(bytes)..bytes.len() - CHECKSUM).step_by(8)
}

fn number(bytes: &[u8], at: usize) -> f64 {
    f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// The same bytes with another number somewhere, and the checksum of it.
fn with_number(bytes: &[u8], at: usize, number: f64) -> Vec<u8> {
    let mut made = bytes.to_vec();
    made[at..at + 8].copy_from_slice(&number.to_le_bytes());
    let end = made.len() - CHECKSUM;
    let checksum = crc32fast::hash(&made[..end]);
    made[end..].copy_from_slice(&checksum.to_le_bytes());
    made
}

fn structure(text: &str) -> Structure {
    text.parse().unwrap()
}

/// Specifications that keep different sums.
fn specifications() -> Vec<(&'static str, Spec)> {
    let few = Binning { capacity: 8, ..Binning::default() };
    let spec = |text: &str, targets: &[&str]| Spec::new(structure(text), targets.iter().copied()).with_binning(few);
    let mut clustered = spec("order:2", &["new", "old"]);
    (clustered.cluster, clustered.baseline) = (Some("user".into()), Some("old".into()));
    let mut segmented = spec("auto", &["new"]);
    segmented.by = Some("3".into());
    let mut interacting = spec("additive", &["new"]);
    interacting.interactions = true;
    vec![
        ("auto", spec("auto", &["new"])),
        ("auto with chi", spec("auto", &["new"]).with_chi()),
        ("product", spec("product", &["new", "old"])),
        ("clusters and a baseline", clustered),
        ("segments", segmented),
        ("interactions", interacting),
    ]
}

/// Slates whose rewards are spread out, and lie below 0 too.
fn slates(seed: u64, rows: usize, slots: usize) -> Vec<Slate> {
    let mut slates = contextual_log(seed, rows, slots, 3);
    slates.iter_mut().for_each(|slate| slate.reward -= 1.0);
    slates
}

#[test]
fn every_number_of_a_summary_is_checked() {
    for (name, spec) in specifications() {
        let bytes = summarise(&spec, &slates(3, 300, 3)).to_bytes();
        assert!(Summary::from_bytes(&bytes).is_ok(), "{name}");
        let (mut changed, mut refused, mut accepted) = (0, 0, Vec::new());
        for at in places(&bytes) {
            let infinity = if at % 16 < 8 { f64::INFINITY } else { f64::NEG_INFINITY };
            for odd in [f64::NAN, infinity] {
                let made = with_number(&bytes, at, odd);
                assert!(Summary::from_bytes(&made).is_err(), "{name}: {odd} at {}", (at - payload(&bytes)) / 8);
            }
            let large = 1e13 * number(&bytes, at);
            if large == 0.0 || large == number(&bytes, at) {
                continue;
            }
            changed += 1;
            match Summary::from_bytes(&with_number(&bytes, at, large)) {
                Err(_) => refused += 1,
                Ok(_) => accepted.push(((at - payload(&bytes)) / 8, number(&bytes, at))),
            }
        }
        let share = f64::from(refused) / f64::from(changed);
        println!("{name}: {refused} of {changed} numbers times 1e13 are refused; not {accepted:?}");
        assert!(share >= 0.95, "{name}: {share}");
    }
}

#[test]
fn a_mean_that_no_rewards_have_is_refused_by_its_section() {
    let rewards: Vec<f64> = (0..200).map(|i| f64::from(i % 4)).collect();
    let mu = vec![[0.5, 0.5]; rewards.len()];
    let pi: Vec<[f64; 2]> = (0..rewards.len()).map(|i| [0.1 + 0.04 * (i % 20) as f64, 0.5]).collect();
    let by = (0..rewards.len()).map(|i| if i % 2 == 0 { "phone" } else { "desktop" });
    let summary = Slates::new(&rewards).logging(&mu).target("new", &pi).by("device", by.collect::<Vec<_>>());
    let bytes = summary.summary().unwrap().to_bytes();
    // The sum of G R over the rows, which the mean is: pi / mu times the reward.
    let sum: f64 = rewards.iter().zip(&pi).map(|(reward, pi)| reward * (1.0 + (pi[0] / 0.5 - 1.0))).sum();
    let at = places(&bytes).find(|&at| (number(&bytes, at) - sum).abs() < 1e-9).unwrap();
    for wrong in [38_289_484_763_585.0 * 200.0, sum + 1.0, -sum] {
        let refusal = Summary::from_bytes(&with_number(&bytes, at, wrong)).unwrap_err().to_string();
        let expected =
            "in the whole log, the sums of rewards and weights of target `new` contradict each other: the sum of";
        assert!(refusal.contains(expected), "{refusal}");
    }
    // The last number is a count of weights, of the last segment.
    let refusal = Summary::from_bytes(&with_number(&bytes, bytes.len() - CHECKSUM - 8, 0.5)).unwrap_err().to_string();
    assert!(refusal.contains("in segment `phone`, the weights of target `new`"), "{refusal}");
}

/// Sums that pass every check one by one, and two by two, can still make a correction take the mean anywhere.
#[test]
fn no_single_number_makes_a_mean_that_no_rewards_have() {
    let mut quick = Settings::default().with_band(Band::None).with_quantiles([]).with_alphas([]);
    quick.draws = 100;
    for (name, spec) in specifications() {
        let mut random = Random(5);
        let mut slates = slates(3, 200, 2);
        // Weights that are almost a linear function of the ratios.
        for slate in &mut slates {
            let (mu, pi) = (0..2).map(|_| [(0.25, 0.15), (0.5, 0.7)][random.below(5) / 3]).unzip();
            (slate.mu, slate.pi) = (mu, pi);
        }
        let summary = summarise(&spec, &slates);
        let evaluation = summary.evaluate(&quick).unwrap();
        let (low, high) = (evaluation.log.reward.min, evaluation.log.reward.max);
        let bytes = summary.to_bytes();
        for at in places(&bytes) {
            let own = number(&bytes, at);
            if own == 0.0 || own.fract() == 0.0 {
                continue;
            }
            for other in [0.0, -own, 2.0 * own, own + 1.0] {
                let Ok(read) = Summary::from_bytes(&with_number(&bytes, at, other)) else { continue };
                let Ok(evaluation) = read.evaluate(&quick) else { continue };
                let mean = evaluation.policies[1].mean.estimate.unwrap();
                let place = (at - payload(&bytes)) / 8;
                assert!(low <= mean && mean <= high, "{name}: {mean} with {other} for {own} at {place}");
            }
        }
    }
}

const STRUCTURES: [&str; 6] = ["auto", "additive", "product", "order:2", "interactions:1+2", "paper-order:2"];

/// Reads a summary again, unless its sums overflowed: then it cannot be evaluated either.
fn is_read(summary: &Summary, what: &str) {
    let Err(refusal) = Summary::from_bytes(&summary.to_bytes()) else { return };
    let evaluated = summary.evaluate(&Settings::default().with_band(Band::None));
    if !matches!(evaluated, Err(Error::Overflow { .. } | Error::HugeReward { .. })) {
        panic!("{what}: {refusal}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Far, huge and tiny rewards, tiny propensities, ragged slates, clusters, segments and baselines, in any order of
    /// merges.
    #[test]
    fn every_genuine_summary_is_read(
        seed in 0u64..1_000_000,
        which in 0..STRUCTURES.len(),
        (rows, slots, parts) in (1usize..400, 1usize..6, 1usize..5),
        (far, scale) in (prop_oneof![Just(0.0), Just(1e3), Just(-1e9), Just(1e15)],
            prop_oneof![Just(0.0), Just(1.0), Just(1e-6), Just(1e6), Just(1e30)]),
        tiny in prop_oneof![Just(1.0), Just(1e-3), Just(1e-12), Just(1e-20)],
        (capacity, log) in (prop_oneof![Just(4usize), Just(60), Just(4096)], any::<bool>()),
        (chi, cluster, segments, baseline, interactions) in
            (any::<bool>(), any::<bool>(), prop_oneof![Just(0), Just(2), Just(30)], any::<bool>(), any::<bool>()),
        (distinct, ragged) in (any::<bool>(), any::<bool>()),
    ) {
        let mut random = Random(seed);
        let scale_of_bins = if log { Scale::Log } else { Scale::Linear };
        let mut spec = Spec::new(structure(STRUCTURES[which]), ["new", "old"]);
        spec = spec.with_binning(Binning { capacity, scale: scale_of_bins });
        if chi {
            spec = spec.with_chi();
        }
        spec.cluster = cluster.then(|| "user".into());
        spec.by = (segments > 0).then(|| segments.to_string());
        spec.baseline = baseline.then(|| "old".into());
        spec.interactions = interactions;
        let mut slates = contextual_log(seed, rows, slots.max(2), 3);
        for slate in &mut slates {
            let reward = if distinct { slate.reward } else { slate.reward.floor() };
            slate.reward = far + scale * (reward - 1.0);
            if random.uniform() < 0.05 {
                slate.mu.iter_mut().for_each(|mu| *mu *= tiny);
            }
            if ragged {
                let kept = 1 + random.below(slate.mu.len());
                slate.mu.truncate(kept);
                slate.pi.truncate(kept);
                slate.chi.truncate(kept);
            }
        }
        let mut split: Vec<Vec<Slate>> = vec![Vec::new(); parts];
        slates.into_iter().for_each(|slate| split[random.below(parts)].push(slate));
        let mut summaries: Vec<Summary> = split.iter().map(|part| summarise(&spec, part)).collect();
        summaries.iter().for_each(|part| is_read(part, "a part"));
        while summaries.len() > 1 {
            let part = summaries.swap_remove(random.below(summaries.len()));
            let other = random.below(summaries.len());
            summaries[other].merge(&part).unwrap();
            is_read(&summaries[other], "a merged one");
        }
    }
}

/// Rows that are alike are counted and added later.
#[test]
fn summaries_of_rows_that_are_alike_are_read() {
    for rows in [1, 7, 1000, 40_000] {
        let reward: Vec<f64> = (0..rows).map(|i| f64::from(i % 7 == 0)).collect();
        let mu = vec![[0.5, 0.25, 0.5]; reward.len()];
        let pi: Vec<[f64; 3]> = (0..rows).map(|i| [0.1 + 0.8 * f64::from(i % 2), 0.25, 0.7]).collect();
        is_read(&Slates::new(&reward).logging(&mu).target("new", &pi).summary().unwrap(), "rows alike");
    }
}

/// Structures without logging propensities: a ranker's, and weights that the log has.
#[test]
fn summaries_without_propensities_are_read() {
    let mut random = Random(11);
    let reward: Vec<f64> = (0..500).map(|_| (4.0 * random.uniform()).floor()).collect();
    let pi: Vec<[f64; 2]> = reward.iter().map(|_| [0.4 * random.uniform(), 0.4 * random.uniform()]).collect();
    let anywhere: Vec<[f64; 2]> = pi.iter().map(|pi| [pi[0] + 0.1, pi[1] + 0.1]).collect();
    let pool: Vec<f64> = reward.iter().map(|_| 5.0 + (3.0 * random.uniform()).floor()).collect();
    let weight: Vec<f64> = reward.iter().map(|_| 3.0 * random.uniform() - 0.5).collect();
    for text in ["ranking:7", "ranking:items"] {
        let slates = Slates::new(&reward).target("new", &pi).anywhere("new", &anywhere).structure(structure(text));
        let slates = if text == "ranking:items" { slates.pool(&pool) } else { slates };
        is_read(&slates.summary().unwrap(), text);
    }
    let given = Slates::new(&reward).weight("new", &weight).structure(Structure::Given);
    is_read(&given.summary().unwrap(), "given");
}
