//! Segments: each has bins of its own, and all of them add up to the whole log.

use slateval::{Accumulator, Binning, Block, Field, PolicyEvaluation, Segment, Spec, Structure, Summary};

use crate::common::{Random, Slate, contextual_log, summarise};
use crate::{assert_same, evaluate, merged_at_random, same};

#[test]
fn segments_add_up_to_the_whole() {
    let slates = contextual_log(25, 3000, 3, 3);
    let spec = Spec::new(Structure::Additive, ["new"]);
    let whole = evaluate(&summarise(&spec, &slates));
    let values = [Segment::Null, Segment::Int(-4), Segment::Text("de".into())];
    let mut segmented = Summary::new(spec.clone().by("country")).unwrap();
    let mut block = Block::new(segmented.spec());
    for (start, rows) in (0..).step_by(Block::ROWS).zip(slates.chunks(Block::ROWS)) {
        block.reset(rows.len(), 3);
        for (i, slate) in rows.iter().enumerate() {
            block.column_mut(Field::Reward)[i] = slate.reward;
            for slot in 0..3 {
                block.column_mut(Field::Logging { slot })[i] = slate.mu[slot];
                block.column_mut(Field::Target { policy: 0, slot })[i] = slate.pi[slot];
            }
            block.set_segment(i, &values[(start + i) % 3]);
        }
        segmented.add(&block).unwrap();
    }
    let evaluation = evaluate(&Summary::from_bytes(&segmented.to_bytes()).unwrap());
    assert_same(&whole, &evaluation);
    let found: Vec<Segment> = evaluation.segments.iter().map(|s| s.value.clone()).collect();
    assert_eq!(found, values);
    let second: Vec<Slate> = slates.iter().skip(1).step_by(3).cloned().collect();
    let alone = evaluate(&summarise(&spec, &second));
    same(
        alone.policies[1].mean.estimate.unwrap(),
        evaluation.segments[1].policies[1].mean.estimate.unwrap(),
        "segment",
    );
    let widest = &evaluation.disparities[0];
    assert_eq!((widest.policy.as_str(), widest.metric), ("logging", "mean"));
    assert!(widest.interval.estimate.unwrap() > 0.0);
}

/// Rewards that are all different.
fn continuous_log(seed: u64) -> Vec<Slate> {
    let mut slates = contextual_log(seed, 4000, 3, 3);
    let mut random = Random(seed);
    slates.iter_mut().for_each(|slate| slate.reward += random.uniform());
    slates
}

#[test]
fn segments_share_bins_whatever_order_they_come_in() {
    for (segments, most) in [(3, 128), (16, 128), (17, 64), (300, 64)] {
        let slates = continuous_log(9);
        let binning = Binning { capacity: 128, ..Binning::default() };
        let spec = Spec::new(Structure::Order(2), ["new"]).with_binning(binning).by(segments.to_string());
        let (once, mut random) = (evaluate(&summarise(&spec, &slates)), Random(5));
        for _ in 0..4 {
            let merged = evaluate(&merged_at_random(&spec, &slates, &mut random));
            assert_same(&once, &merged);
            for (a, b) in once.segments.iter().zip(&merged.segments) {
                assert_eq!(
                    (&a.value, a.rows, &a.policies[0].cdf.reward),
                    (&b.value, b.rows, &b.policies[0].cdf.reward)
                );
                same(a.policies[1].mean.estimate.unwrap(), b.policies[1].mean.estimate.unwrap(), "a segment's mean");
            }
        }
        let bins: Vec<usize> = once.segments.iter().map(|segment| segment.policies[0].cdf.reward.len()).collect();
        assert!(bins.iter().all(|&bins| bins <= most), "{bins:?}");
        assert!(segments > 16 || bins.iter().all(|&bins| bins > most / 3), "{bins:?}");
    }
}

/// With more segments, each has fewer bins: a part may have finer ones than the part that it is merged with.
#[test]
fn parts_with_few_and_with_many_segments_merge() {
    let spec = Spec::new(Structure::Additive, ["new"]).by("segment");
    let spec = spec.with_binning(Binning { capacity: 256, ..Binning::default() });
    let slates = continuous_log(6);
    // How many rows the first part has decides whether its rewards are still told apart.
    for (first, few, many) in [(300, 16, 17), (1500, 4, 17), (300, 5, 40), (1000, 2, 33), (20, 1, 33)] {
        let add = |sums: &mut Accumulator, rows: &[Slate], segments: usize| {
            for (i, slate) in rows.iter().enumerate() {
                let targets = [slate.pi.as_slice()];
                let slate = slateval::Slate::new(slate.reward).logging(&slate.mu).targets(&targets);
                sums.record(&slate.segment((i % segments) as i64)).unwrap();
            }
        };
        let [mut once, mut little, mut much] = [0; 3].map(|_| Accumulator::new(spec.clone()).unwrap());
        let (few_rows, many_rows) = slates.split_at(first);
        for (sums, of_few, of_many) in [(&mut once, true, true), (&mut little, true, false), (&mut much, false, true)] {
            add(sums, if of_few { few_rows } else { &[] }, few);
            add(sums, if of_many { many_rows } else { &[] }, many);
        }
        let [once, little, much] = [once, little, much].map(|sums| Summary::from(sums.finish()));
        let once = evaluate(&once);
        for parts in [[&little, &much], [&much, &little]] {
            let mut merged = parts[0].clone();
            merged.merge(parts[1]).unwrap();
            let merged = evaluate(&Summary::from_bytes(&merged.to_bytes()).unwrap());
            assert_same(&once, &merged);
            for (a, b) in once.segments.iter().zip(&merged.segments) {
                for (a, b) in a.policies.iter().zip(&b.policies) {
                    assert_eq!(a.cdf.reward, b.cdf.reward, "the same bins");
                    for (a, b) in a.cdf.raw.iter().zip(&b.cdf.raw) {
                        same(*a, *b, "the CDF of a segment");
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_absorbed_is_what_is_merged() {
    let spec = Spec::new(Structure::Auto, ["new"]).by("20");
    let slates = continuous_log(4);
    let [mut merged, mut absorbed] = [Summary::new(spec.clone()).unwrap(), Summary::new(spec.clone()).unwrap()];
    // The second part has segments that the first has not, and the third has all of them.
    for rows in [&slates[..7], &slates[7..300], &slates[300..]] {
        let part = summarise(&spec, rows);
        merged.merge(&part).unwrap();
        absorbed.absorb(part).unwrap();
        assert!(merged.to_bytes() == absorbed.to_bytes());
    }
    assert_eq!(absorbed.rows(), slates.len() as u64);
    assert!(absorbed.absorb(summarise(&Spec::new(Structure::Auto, ["new"]), &slates)).is_err());
    assert!(merged.to_bytes() == absorbed.to_bytes(), "a refused summary changes nothing");
}

/// To the last bit: rows are added in the same order.
#[test]
fn the_whole_log_is_the_same_with_segments_and_without() {
    let slates = continuous_log(3);
    for spec in [Spec::new(Structure::Auto, ["new"]), Spec::new(Structure::Auto, ["new"]).clustered("user")] {
        let (plain, split) = (evaluate(&summarise(&spec, &slates)), evaluate(&summarise(&spec.by("40"), &slates)));
        assert_eq!(plain.policies, split.policies);
        assert_eq!(plain.comparisons, split.comparisons);
    }
}

/// A segment's slates are shorter than those of another, whose rows came between them or did not.
#[test]
fn a_segment_has_the_slots_of_its_own_slates() {
    let structures = ["auto", "additive", "product", "order:2"].map(|name| name.parse::<Structure>().unwrap());
    for structure in structures {
        let spec = Spec::new(structure, ["new"]).by("device");
        let record = |sums: &mut Accumulator, i: usize, slots: usize, name: &str| {
            let pi: Vec<f64> = (0..slots).map(|k| if (i >> k) % 2 == 1 { 0.8 } else { 0.2 }).collect();
            let (mu, pi): (_, &[_]) = (vec![0.5; slots], &[&pi[..]]);
            let slate = slateval::Slate::new((i % 2 + i % 3) as f64).logging(&mu).targets(pi).segment(name);
            sums.record(&slate).unwrap();
        };
        let new = || Accumulator::new(spec.clone()).unwrap();
        let (mut apart, mut short, mut mixed) = (new(), new(), new());
        for i in 0..1000 {
            record(&mut apart, i, 3, "desktop");
            record(&mut short, i, 2, "phone");
            record(&mut mixed, i, 3, "desktop");
            record(&mut mixed, i, 2, "phone");
        }
        let [mut apart, short, mixed] = [apart, short, mixed].map(|sums| Summary::from(sums.finish()));
        apart.merge(&short).unwrap();
        let (apart, mixed) = (evaluate(&apart), evaluate(&mixed));
        for (a, b) in apart.segments.iter().zip(&mixed.segments) {
            let (a, b) = (&a.policies[1], &b.policies[1]);
            same(a.mean.estimate.unwrap(), b.mean.estimate.unwrap(), "a segment's mean");
            let checks = |policy: &PolicyEvaluation| {
                policy.diagnostics.checks.iter().map(|check| (check.name(), check.status)).collect::<Vec<_>>()
            };
            assert_eq!(checks(a), checks(b), "{}", spec.structure);
            let orders = |policy: &PolicyEvaluation| policy.selection.as_ref().map(|s| s.orders.len());
            assert_eq!(orders(a), orders(b), "{}", spec.structure);
        }
    }
}
