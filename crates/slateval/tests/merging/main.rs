//! Any split, any order, through bytes or not: merging gives what one pass gives.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod refusals;
mod segments;

use common::{Random, Slate, contextual_log, quick, summarise};
use proptest::prelude::*;
use slateval::{
    Accumulator, Binning, Block, Error, Evaluation, Field, LogFacts, PolicyEvaluation, Segment, Spec, Structure,
    Summary,
};
use slateval::{InWords, Voice};

fn same(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0), "{what}: {a} against {b}");
}

/// Numbers with the size of what was added up to get them: sums of terms of size `s` differ by rounding in proportion
/// to `s`, however small they come out themselves.
fn numbers(log: &LogFacts, p: &PolicyEvaluation) -> Vec<(f64, f64)> {
    let reward = log.reward.min.abs().max(log.reward.max.abs()).max(1.0);
    let mut all = vec![(p.mean.estimate.unwrap(), reward), (p.variance.estimate.unwrap_or(-1.0), reward * reward)];
    let levels = p.quantiles.iter().map(|q| &q.interval).chain(p.var.iter().chain(&p.cvar).map(|t| &t.interval));
    all.extend(levels.map(|interval| (interval.estimate.unwrap(), reward)));
    all.extend(p.cdf.reward.iter().map(|r| (*r, reward)));
    all.extend(p.cdf.raw.iter().chain(&p.cdf.estimate).map(|share| (*share, 1.0)));
    let weights = [p.diagnostics.ess.unwrap(), p.diagnostics.design_ess.unwrap(), p.diagnostics.weight_max];
    all.extend(weights.map(|number| (number, number.abs().max(1.0))));
    all
}

fn assert_same(a: &Evaluation, b: &Evaluation) {
    assert_eq!(a.log, b.log);
    for (p, q) in a.policies.iter().zip(&b.policies) {
        let (x, y) = (numbers(&a.log, p), numbers(&b.log, q));
        assert_eq!(x.len(), y.len());
        for ((x, scale), (y, _)) in x.iter().zip(&y) {
            assert!((x - y).abs() <= 1e-12 * scale, "{}: {x} against {y}, from terms of {scale}", p.name);
        }
    }
}

fn evaluate(summary: &Summary) -> Evaluation {
    summary.evaluate(&quick()).unwrap()
}

/// Splits at random, shuffles the parts, sends some through bytes, and merges them as a random tree.
fn merged_at_random(spec: &Spec, slates: &[Slate], random: &mut Random) -> Summary {
    let parts = 1 + random.below(7);
    let mut split: Vec<Vec<Slate>> = vec![Vec::new(); parts];
    for slate in slates {
        split[random.below(parts)].push(slate.clone());
    }
    let mut summaries: Vec<Summary> = split.iter().map(|part| summarise(spec, part)).collect();
    while summaries.len() > 1 {
        let part = summaries.swap_remove(random.below(summaries.len()));
        let part = if random.uniform() < 0.5 { Summary::from_bytes(&part.to_bytes()).unwrap() } else { part };
        let other = random.below(summaries.len());
        summaries[other].merge(&part).unwrap();
    }
    summaries.pop().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn merging_is_associative_and_order_free(seed in 0u64..10_000, capacity in prop_oneof![Just(4usize), Just(50), Just(4096)], log in any::<bool>(), chi in any::<bool>()) {
        let mut slates = contextual_log(seed, 300, 3, 3);
        let mut random = Random(seed);
        // Spread the rewards over orders of magnitude, and below zero.
        slates.iter_mut().for_each(|s| s.reward = (s.reward - 2.0) * 10f64.powi(random.below(5) as i32));
        let scale = if log { slateval::Scale::Log } else { slateval::Scale::Linear };
        let spec = Spec::new(Structure::Order(2), ["new"]).with_binning(Binning { capacity, scale });
        let spec = if chi { spec.with_chi() } else { spec };
        let whole = summarise(&spec, &slates);
        let merged = merged_at_random(&spec, &slates, &mut random);
        prop_assert!(evaluate(&whole).policies[1].cdf.reward.len() <= capacity);
        assert_same(&evaluate(&whole), &evaluate(&merged));
    }
}

/// Days need not agree on a range in advance.
#[test]
fn a_small_day_and_a_large_day() {
    let mut random = Random(21);
    let mut day = |n: usize, top: f64, seed| {
        let mut slates = contextual_log(seed, n, 2, 3);
        slates.iter_mut().for_each(|s| s.reward = top * random.uniform());
        slates
    };
    let (first, second) = (day(9000, 5.0, 1), day(9000, 7000.0, 2));
    let spec = Spec::new(Structure::Additive, ["new"]);
    let both: Vec<Slate> = first.iter().chain(&second).cloned().collect();
    let whole = evaluate(&summarise(&spec, &both));
    assert!(whole.log.reward.distinct.is_none());
    let parts = [summarise(&spec, &first), summarise(&spec, &second)];
    for order in [[0, 1], [1, 0]] {
        let mut merged = Summary::new(spec.clone()).unwrap();
        for part in order {
            merged.merge(&Summary::from_bytes(&parts[part].to_bytes()).unwrap()).unwrap();
        }
        assert_same(&whole, &evaluate(&merged));
    }
}

#[test]
fn slates_of_different_lengths_merge_and_missing_slots_count_as_ratio_one() {
    let long = contextual_log(22, 500, 4, 3);
    let short: Vec<Slate> = contextual_log(23, 500, 2, 3);
    let padded: Vec<Slate> = short
        .iter()
        .map(|s| {
            let pad = |x: &[f64], with: f64| x.iter().copied().chain([with, with]).collect::<Vec<_>>();
            Slate { reward: s.reward, mu: pad(&s.mu, 1.0), pi: pad(&s.pi, 1.0), chi: pad(&s.chi, 0.0) }
        })
        .collect();
    for structure in [Structure::Additive, Structure::Order(2), Structure::Product] {
        let spec = Spec::new(structure, ["new"]).with_chi();
        let all: Vec<Slate> = short.iter().chain(&long).cloned().collect();
        let explicit: Vec<Slate> = padded.iter().chain(&long).cloned().collect();
        let ragged = evaluate(&summarise(&spec, &all));
        assert_eq!(ragged.log.slots, Some(4));
        assert_same(&ragged, &evaluate(&summarise(&spec, &explicit)));
        let mut merged = summarise(&spec, &short);
        merged.merge(&summarise(&spec, &long)).unwrap();
        assert_same(&ragged, &evaluate(&merged));
        let mut merged = summarise(&spec, &long);
        merged.merge(&summarise(&spec, &short)).unwrap();
        assert_same(&ragged, &evaluate(&merged));
    }
}

/// Everything that can be kept at once: all orders, two targets compared, clusters, pairs of slots, rewards far from 0.
#[test]
fn what_intervals_rest_on_merges_too() {
    let mut random = Random(41);
    for (round, chi) in [(0, false), (1, true), (2, true)] {
        let mut slates = contextual_log(50 + round, 600, 4, 3);
        // Slates of different lengths, in files of their own.
        slates.extend(contextual_log(60 + round, 300, 2, 3));
        if round == 2 {
            slates.iter_mut().for_each(|s| s.reward += 1e5);
        }
        let mut spec = Spec::new(Structure::Auto, ["new", "between"]).with_baseline("between");
        spec.cluster = (round != 1).then(|| "user".to_owned());
        spec.interactions = true;
        let spec = if chi { spec.with_chi() } else { spec };
        let whole = summarise(&spec, &slates);
        let intervals = |evaluation: &Evaluation| {
            let own = evaluation.policies.iter().flat_map(|p| [&p.mean, &p.variance, &p.std]);
            let differences = evaluation.comparisons.iter().map(|c| &c.mean);
            let ends = own.chain(differences).flat_map(|i| [i.lower.unwrap(), i.upper.unwrap()]);
            let widths = evaluation.policies.iter().map(|p| p.cdf.half_width.unwrap());
            ends.chain(widths).collect::<Vec<f64>>()
        };
        let expected = evaluate(&whole);
        assert_eq!(expected.comparisons.len(), 3, "each target against logging, and one against the other");
        for _ in 0..5 {
            let merged = merged_at_random(&spec, &slates, &mut random);
            let found = evaluate(&merged);
            assert_same(&expected, &found);
            for (a, b) in intervals(&expected).into_iter().zip(intervals(&found)) {
                assert!((a - b).abs() <= 1e-8 * a.abs().max(1.0), "{a} against {b}");
            }
            let strengths = |s: &Summary| s.interactions(&quick()).unwrap();
            for (a, b) in strengths(&whole).iter().zip(strengths(&merged)) {
                assert_eq!((&a.policy, a.slots), (&b.policy, b.slots));
                same(a.strength, b.strength, "interaction");
            }
        }
    }
}

/// Blocks are worked on in groups of rows; what fills up a block's last group must not count, also where a weight is 1
/// without any row.
#[test]
fn comparisons_with_a_baseline_do_not_depend_on_where_blocks_end() {
    let slates = contextual_log(71, 127, 3, 3);
    for structure in [Structure::Product, Structure::Order(2), "interactions:1+2".parse().unwrap()] {
        let spec = Spec::new(structure.clone(), ["new", "between"]).with_baseline("between");
        let difference = |summary: &Summary| {
            let evaluation = evaluate(summary);
            let comparison = evaluation.comparisons.iter().find(|c| c.baseline == "between").unwrap();
            [comparison.mean.lower.unwrap(), comparison.mean.upper.unwrap()]
        };
        let expected = difference(&summarise(&spec, &slates));
        for size in [1, 7, 8, 50, 120] {
            let mut merged = Summary::new(spec.clone()).unwrap();
            slates.chunks(size).for_each(|part| merged.merge(&summarise(&spec, part)).unwrap());
            for (a, b) in expected.into_iter().zip(difference(&merged)) {
                same(a, b, &format!("{structure}, {size} rows at a time"));
            }
        }
    }
}

/// A slot that a block's slates do not have is no error: others of the log may have it.
#[test]
fn named_interactions_need_only_exist_in_the_longest_slates() {
    let (long, short) = (contextual_log(31, 400, 3, 3), contextual_log(32, 400, 2, 3));
    let spec = Spec::new("interactions:1+3".parse().unwrap(), ["new"]);
    let whole: Vec<Slate> = long.iter().chain(&short).cloned().collect();
    let expected = evaluate(&summarise(&spec, &whole));
    for (first, second) in [(&long, &short), (&short, &long)] {
        let mut merged = summarise(&spec, first);
        merged.merge(&summarise(&spec, second)).unwrap();
        assert_same(&expected, &evaluate(&merged));
        let mut added = summarise(&spec, first);
        common::add(&mut added, second);
        assert_same(&expected, &evaluate(&added));
    }
    let error = summarise(&spec, &short).evaluate(&quick()).unwrap_err();
    assert!(error.to_string().contains("slot 3 is named, but slates have 2 slots"), "{error}");
    let paper = summarise(&Spec::new(Structure::PaperOrder(3), ["new"]), &short);
    assert!(paper.evaluate(&quick()).is_err(), "there are no sets of three slots");
    let order = summarise(&Spec::new(Structure::Order(3), ["new"]), &short);
    assert!(matches!(order.evaluate(&quick()), Err(Error::BadStructure { .. })));
    let chosen = summarise(&Spec::new(Structure::Auto, ["new"]), &short);
    let third = quick().with_structure(Structure::Order(3));
    assert!(matches!(chosen.evaluate(&third), Err(Error::BadStructure { .. })));
    let huge = summarise(&Spec::new(Structure::PaperOrder(usize::MAX / 2), ["new"]), &short);
    assert!(huge.evaluate(&quick()).is_err());
}

/// Rankings of different lengths from pools of different sizes, through blocks, against the formula row by row.
#[test]
fn rankings_of_different_lengths_and_pools() {
    let spec = Spec::new("ranking:items".parse().unwrap(), ["new"]);
    let mut random = Random(33);
    let mut summary = Summary::new(spec).unwrap();
    let mut block = Block::new(summary.spec());
    let rows = Block::ROWS;
    block.reset(rows, 3);
    let mut weights = Vec::new();
    for row in 0..rows {
        let (slots, items) = (1 + random.below(3), 3 + random.below(4));
        block.column_mut(Field::Reward)[row] = random.uniform();
        block.column_mut(Field::Pool)[row] = items as f64;
        let (mut own, mut anywhere) = (0.0, 0.0);
        for slot in 0..3 {
            if slot >= slots {
                block.set_missing(row, slot);
                continue;
            }
            // Single precision writes 1 as a little more.
            let pi = if random.uniform() < 0.2 { 1.0 + 5e-7 } else { random.uniform() };
            let any = (pi + (1.0 - pi).max(0.0) * random.uniform()).max(pi);
            block.column_mut(Field::Target { policy: 0, slot })[row] = pi;
            block.column_mut(Field::Anywhere { policy: 0, slot })[row] = any;
            own += pi.min(1.0);
            anywhere += any.min(1.0);
        }
        weights.push(slateval::ranking_weight(items, slots, own, anywhere));
    }
    summary.add(&block).unwrap();
    let mut settings = quick();
    settings.correction = "none".parse().unwrap();
    let new = summary.evaluate(&settings).unwrap().policies[1].clone();
    let rewards = block.column(Field::Reward);
    let mean = rewards.iter().zip(&weights).map(|(r, w)| r * w).sum::<f64>() / rows as f64;
    same(new.mean.estimate.unwrap(), mean, "mean");
    same(new.diagnostics.weight_max, weights.iter().copied().fold(f64::MIN, f64::max), "largest weight");
    same(new.diagnostics.weight_mean, weights.iter().sum::<f64>() / rows as f64, "mean weight");
}

/// A first row far away, alone in its block, must not decide where rewards are measured from.
#[test]
fn an_outlier_at_the_start_costs_nothing() {
    let mut slates = contextual_log(34, 3000, 2, 3);
    slates[0].reward = 1e9;
    slates[0].pi = vec![0.0, 0.0];
    let spec = Spec::new(Structure::Product, ["new"]);
    let whole = evaluate(&summarise(&spec, &slates));
    let mut split = summarise(&spec, &slates[..1]);
    split.merge(&summarise(&spec, &slates[1..])).unwrap();
    let split = evaluate(&split);
    let variance = |e: &Evaluation| e.policies[1].variance.estimate.unwrap();
    assert!((variance(&whole) / variance(&split) - 1.0).abs() < 1e-9);
}

/// The paper's weight counts an effect several times, so what chi is to others it is not to this one.
#[test]
fn paper_order_says_nothing_about_chi() {
    let spec = Spec::new(Structure::PaperOrder(2), ["new"]).with_chi();
    let evaluation = evaluate(&summarise(&spec, &contextual_log(35, 3000, 4, 3)));
    assert!(evaluation.policies[1].diagnostics.checks.iter().all(|c| c.name().as_str() != "chi"));
}

/// The paper's weight speaks of the slots that a slate has.
#[test]
fn paper_order_counts_only_existing_slots() {
    let slates = contextual_log(24, Block::ROWS, 3, 3);
    let spec = Spec::new(Structure::PaperOrder(2), ["new"]);
    let expected = evaluate(&summarise(&spec, &slates));
    let mut block = Block::new(&spec);
    let mut summary = Summary::new(spec.clone()).unwrap();
    block.reset(slates.len(), 5);
    for (i, slate) in slates.iter().enumerate() {
        block.column_mut(Field::Reward)[i] = slate.reward;
        // The slots that exist are the first, third and fifth.
        for (from, slot) in [0, 2, 4].into_iter().enumerate() {
            block.column_mut(Field::Logging { slot })[i] = slate.mu[from];
            block.column_mut(Field::Target { policy: 0, slot })[i] = slate.pi[from];
        }
        block.set_missing(i, 1);
        block.set_missing(i, 3);
    }
    summary.add(&block).unwrap();
    let found = evaluate(&summary);
    same(expected.policies[1].mean.estimate.unwrap(), found.policies[1].mean.estimate.unwrap(), "mean");
    same(expected.policies[1].diagnostics.weight_max, found.policies[1].diagnostics.weight_max, "largest weight");
    assert!(
        found.policies[1]
            .diagnostics
            .checks
            .iter()
            .any(|c| c.finding.in_words(Voice::Plain).contains("biased for 1 < m < K"))
    );
}

/// Orders beyond the fourth are told apart once a slate has five slots, which may be late.
#[test]
fn what_a_log_is_worth_does_not_depend_on_when_longer_slates_come() {
    let (four, five) = (contextual_log(11, 700, 4, 3), contextual_log(12, 500, 5, 3));
    let spec = Spec::new(Structure::Auto, ["new"]);
    let worth = |order: [&[Slate]; 2]| {
        let mut sums = Accumulator::new(spec.clone()).unwrap();
        for slate in order.into_iter().flatten() {
            let targets = [slate.pi.as_slice()];
            sums.record(&slateval::Slate::new(slate.reward).logging(&slate.mu).targets(&targets)).unwrap();
        }
        let selection = evaluate(&sums.finish().into()).policies[1].selection.clone().unwrap();
        selection.orders.iter().map(|order| order.design_ess.unwrap()).collect::<Vec<f64>>()
    };
    let (short_first, long_first) = (worth([&four, &five]), worth([&five, &four]));
    assert_eq!(short_first.len(), 4, "orders 2 to 5");
    short_first.iter().zip(&long_first).for_each(|(a, b)| same(*a, *b, "what the log is worth"));
}

/// Slots by the hundred: slow, but right.
#[test]
fn many_slots() {
    let slates = contextual_log(28, 300, 120, 2);
    let evaluation = evaluate(&summarise(&Spec::new(Structure::Additive, ["new"]), &slates));
    same(*evaluation.policies[1].cdf.raw.last().unwrap(), 1.0, "sum of weights");
}

/// Slates without slots, and shorter ones, wait beside longer ones of their segment.
#[test]
fn slates_of_any_length_wait_for_their_block() {
    use slateval::Slate as One;
    let spec = Spec::new(Structure::Additive, ["new"]);
    let mut random = Random(4);
    let mut rows = Vec::new();
    for i in 0..2000 {
        // Long runs of one length, so that blocks are of slates of that length alone.
        let slots = [2, 0, 3, 1, 0][(i / 150) % 5];
        let mu: Vec<f64> = (0..slots).map(|_| 0.2 + 0.6 * random.uniform()).collect();
        let pi: Vec<f64> = (0..slots).map(|_| random.uniform()).collect();
        rows.push((random.uniform(), mu, pi, random.below(3) as i64));
    }
    let mut segmented = Accumulator::new(spec.clone().by("group")).unwrap();
    let mut alone: Vec<Accumulator> = (0..3).map(|_| Accumulator::new(spec.clone()).unwrap()).collect();
    for (reward, mu, pi, group) in &rows {
        let targets: [&[f64]; 1] = [pi];
        let slate = One::new(*reward).logging(mu).targets(&targets);
        alone[*group as usize].record(&slate).unwrap();
        segmented.record(&slate.segment(Segment::Int(*group))).unwrap();
    }
    let found = evaluate(&segmented.finish().into());
    for (group, alone) in alone.into_iter().enumerate() {
        let expected = evaluate(&alone.finish().into());
        for policy in 0..2 {
            let [a, b] = [&found.segments[group].policies[policy], &expected.policies[policy]];
            same(a.mean.estimate.unwrap(), b.mean.estimate.unwrap(), "a segment's mean");
        }
        let of_group = rows.iter().filter(|row| row.3 == group as i64);
        let (sum, count) = of_group.fold((0.0, 0.0), |(sum, count), row| (sum + row.0, count + 1.0));
        same(found.segments[group].policies[0].mean.estimate.unwrap(), sum / count, "the plain mean");
    }
}
