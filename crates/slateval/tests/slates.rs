//! The front door: data in memory, in any layout and in chunks of any size, give what blocks filled by hand give, to the
//! last bit; and everything that is refused says what the user did, and leaves a summary as it was.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Random, contextual_log, points};
use slateval::{
    Accumulator, Binning, Block, Error, Field, PolicyEvaluation, Pool, Scale, Segment, Settings, Slate, Slates, Slots,
    Spec, Structure, Summary,
};

/// A log of one target by columns, some slots of it missing where it is ragged.
struct Log {
    reward: Vec<f64>,
    mu: Vec<Vec<f64>>,
    pi: Vec<Vec<f64>>,
    chi: Vec<Vec<f64>>,
}

fn log(seed: u64, rows: usize, slots: usize, ragged: bool) -> Log {
    let slates = contextual_log(seed, rows, slots, 3);
    let mut random = Random(seed + 1);
    let length = |_: &common::Slate| if ragged { 1 + random.below(slots) } else { slots };
    let lengths: Vec<usize> = slates.iter().map(length).collect();
    let cut = |values: &Vec<f64>, length: &usize| values[..*length].to_vec();
    let cut_all = |of: fn(&common::Slate) -> &Vec<f64>| slates.iter().map(of).zip(&lengths).map(|(v, l)| cut(v, l));
    Log {
        reward: slates.iter().map(|s| s.reward).collect(),
        mu: cut_all(|s| &s.mu).collect(),
        pi: cut_all(|s| &s.pi).collect(),
        chi: cut_all(|s| &s.chi).collect(),
    }
}

/// Slate after slate, NaN for slots that are missing.
fn flat(slates: &[Vec<f64>], slots: usize) -> Vec<f64> {
    slates.iter().flat_map(|s| (0..slots).map(|k| s.get(k).copied().unwrap_or(f64::NAN))).collect()
}

fn by_column(slates: &[Vec<f64>], slots: usize) -> Vec<Vec<f64>> {
    (0..slots).map(|k| slates.iter().map(|s| s.get(k).copied().unwrap_or(f64::NAN)).collect()).collect()
}

fn device(row: usize) -> Option<&'static str> {
    [Some("phone"), Some("desktop"), None][row % 7 % 3]
}

fn user(row: usize) -> i64 {
    (row % 41) as i64
}

/// Blocks filled by hand.
fn by_hand(spec: &Spec, log: &Log, slots: usize) -> Summary {
    let mut sums = Accumulator::new(spec.clone()).unwrap();
    let rows: Vec<usize> = (0..log.reward.len()).collect();
    for rows in rows.chunks(Block::ROWS) {
        let mut block = Block::new(spec);
        block.reset(rows.len(), slots);
        for (i, &row) in rows.iter().enumerate() {
            block.column_mut(Field::Reward)[i] = log.reward[row];
            for slot in 0..slots {
                if slot >= log.mu[row].len() {
                    block.set_missing(i, slot);
                    continue;
                }
                block.column_mut(Field::Logging { slot })[i] = log.mu[row][slot];
                block.column_mut(Field::Target { policy: 0, slot })[i] = log.pi[row][slot];
                if spec.policies[0].chi {
                    block.column_mut(Field::Chi { policy: 0, slot })[i] = log.chi[row][slot];
                }
            }
            if spec.by.is_some() {
                block.set_segment(i, &device(row).into());
            }
            if spec.cluster.is_some() {
                block.set_cluster(i, &Segment::Int(user(row)));
            }
        }
        sums.add(&block).unwrap();
    }
    sums.finish().into()
}

/// The specification's slates through the front door.
fn slates<'a>(
    spec: &Spec,
    reward: &'a [f64],
    mu: Slots<'a>,
    pi: Slots<'a>,
    chi: Slots<'a>,
    first: usize,
) -> Slates<'a> {
    let rows = first..first + reward.len();
    let mut slates = Slates::new(reward).logging(mu).target("new", pi).structure(spec.structure.clone());
    if spec.policies[0].chi {
        slates = slates.chi("new", chi);
    }
    if let Some(column) = &spec.by {
        slates = slates.by(column, rows.clone().map(device));
    }
    if let Some(column) = &spec.cluster {
        slates = slates.cluster(column, rows.map(user));
    }
    slates
}

fn specs() -> Vec<Spec> {
    let structures = ["auto", "additive", "product", "order:2", "interactions:1+2", "paper-order:2"];
    let plain = structures.into_iter().map(|text| Spec::new(text.parse().unwrap(), ["new"]));
    let additive = || Spec::new(Structure::Additive, ["new"]);
    let further = [
        additive().with_chi(),
        Spec::new(Structure::Auto, ["new"]).with_chi(),
        additive().by("device"),
        additive().clustered("user"),
        additive().with_chi().by("device").clustered("user"),
    ];
    plain.chain(further).collect()
}

#[test]
fn the_front_door_equals_blocks_filled_by_hand() {
    let slots = 3;
    for ragged in [false, true] {
        let log = log(5, 1300, slots, ragged);
        let (mu, pi, chi) = (flat(&log.mu, slots), flat(&log.pi, slots), flat(&log.chi, slots));
        for spec in specs() {
            let hand = by_hand(&spec, &log, slots);
            let door = slates(&spec, &log.reward, (&mu).into(), (&pi).into(), (&chi).into(), 0);
            let summary = door.summary().unwrap();
            assert_eq!(summary.spec(), hand.spec());
            assert_eq!(summary.rows(), 1300);
            assert_eq!(summary.slots(), Some(slots));
            assert_eq!(summary.to_bytes(), hand.to_bytes(), "{} ragged {ragged}", spec.structure);
            assert!(summary.segments().eq(hand.segments()));
            let settings = points();
            assert_eq!(door.evaluate(&settings).unwrap(), hand.evaluate(&settings).unwrap());
        }
    }
}

#[test]
fn every_layout_is_the_same() {
    let slots = 3;
    for ragged in [false, true] {
        let log = log(6, 700, slots, ragged);
        let spec = Spec::new(Structure::Auto, ["new"]).with_chi();
        let (mu, pi, chi) = (flat(&log.mu, slots), flat(&log.pi, slots), flat(&log.chi, slots));
        let expected = slates(&spec, &log.reward, (&mu).into(), (&pi).into(), (&chi).into(), 0).summary().unwrap();
        let same = |mu: Slots<'_>, pi: Slots<'_>, chi: Slots<'_>| {
            let summary = slates(&spec, &log.reward, mu, pi, chi, 0).summary().unwrap();
            assert_eq!(summary.to_bytes(), expected.to_bytes());
        };
        same(mu[..].into(), (&pi).into(), chi[..].into());
        let columns = [&log.mu, &log.pi, &log.chi].map(|values| by_column(values, slots));
        let [a, b, c] = &columns;
        same(Slots::columns(a), Slots::columns(b), Slots::columns(c.iter().map(Vec::as_slice)));
        let arrays = |values: &[f64]| values.chunks(3).map(|s| [s[0], s[1], s[2]]).collect::<Vec<[f64; 3]>>();
        let (a, b, c) = (arrays(&mu), arrays(&pi), arrays(&chi));
        same((&a).into(), b[..].into(), (&c).into());
        same((&log.mu).into(), log.pi[..].into(), (&log.chi).into());
        // One in one layout, one in another.
        same((&log.mu).into(), (&b).into(), (&chi).into());
    }
}

#[test]
fn chunks_of_any_size_equal_one_pass() {
    let slots = 3;
    let log = log(7, 1700, slots, true);
    let (mu, pi, chi) = (flat(&log.mu, slots), flat(&log.pi, slots), flat(&log.chi, slots));
    for spec in specs() {
        let whole = by_hand(&spec, &log, slots);
        for sizes in [vec![1, 2, 3, 510, 1], vec![512], vec![700, 13], vec![1699]] {
            let mut summary = Summary::new(spec.clone()).unwrap();
            let (mut start, mut sizes) = (0, sizes.iter().cycle());
            while start < log.reward.len() {
                let end = log.reward.len().min(start + sizes.next().unwrap());
                let [mu, pi, chi] = [&mu, &pi, &chi].map(|values| &values[start * slots..end * slots]);
                let chunk = slates(&spec, &log.reward[start..end], mu.into(), pi.into(), chi.into(), start);
                chunk.add_to(&mut summary).unwrap();
                start = end;
            }
            assert_eq!(summary.rows(), whole.rows());
            assert!(summary.segments().eq(whole.segments()));
            let [found, expected] = [&summary, &whole].map(|summary| summary.evaluate(&points()).unwrap());
            for (found, expected) in found.policies.iter().zip(&expected.policies) {
                same_curve(found, expected);
            }
            for (found, expected) in found.segments.iter().zip(&expected.segments) {
                found.policies.iter().zip(&expected.policies).for_each(|(a, b)| same_curve(a, b));
            }
        }
    }
}

/// The same mean and CDF, but for rounding: a sum of a few thousand terms.
fn same_curve(found: &PolicyEvaluation, expected: &PolicyEvaluation) {
    let numbers = |policy: &PolicyEvaluation| {
        let curve = policy.cdf.raw.iter().chain(&policy.cdf.reward).copied();
        curve.chain(policy.mean.estimate).collect::<Vec<f64>>()
    };
    let (found, expected) = (numbers(found), numbers(expected));
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn slates_recorded_one_by_one_equal_one_pass() {
    let slots = 3;
    let log = log(8, 1100, slots, false);
    for spec in specs() {
        let whole = by_hand(&spec, &log, slots);
        let mut sums = Accumulator::new(spec.clone()).unwrap();
        for row in 0..log.reward.len() {
            let (pi, chi) = ([&log.pi[row][..]], [&log.chi[row][..]]);
            let slate = Slate::new(log.reward[row]).logging(&log.mu[row]).targets(&pi).chi(&chi);
            sums.record(&slate.segment(device(row)).cluster(user(row))).unwrap();
        }
        assert_eq!(sums.rows(), whole.rows());
        let summary = Summary::from(sums.finish());
        assert_eq!(summary.rows(), whole.rows());
        assert_eq!(summary.slots(), Some(slots));
        assert!(summary.segments().eq(whole.segments()));
        assert_eq!(summary.to_bytes(), whole.to_bytes(), "{}", spec.structure);
        let settings = points();
        assert_eq!(summary.evaluate(&settings).unwrap(), whole.evaluate(&settings).unwrap());
        assert_eq!(summary.profile(&[0.5], &settings).unwrap(), whole.profile(&[0.5], &settings).unwrap());
    }
}

/// Slates that differ in length grow the block that they wait in.
#[test]
fn recorded_slates_may_differ_in_length() {
    let slots = 4;
    let log = log(9, 600, slots, true);
    let spec = Spec::new(Structure::Product, ["new"]);
    let mut sums = Accumulator::new(spec.clone()).unwrap();
    for row in 0..log.reward.len() {
        sums.record(&Slate::new(log.reward[row]).logging(&log.mu[row]).targets(&[&log.pi[row]])).unwrap();
    }
    let whole = by_hand(&spec, &log, slots);
    let summary = Summary::from(sums.finish());
    assert_eq!(summary.slots(), Some(slots));
    assert_eq!(summary.to_bytes(), whole.to_bytes());
}

#[test]
fn waiting_rows_are_merged() {
    let slots = 2;
    let log = log(10, 300, slots, false);
    let (mu, pi) = (flat(&log.mu, slots), flat(&log.pi, slots));
    let part = |from: usize, to: usize| {
        let (mu, pi) = (&mu[from * slots..to * slots], &pi[from * slots..to * slots]);
        Slates::new(&log.reward[from..to]).logging(mu).target("new", pi).summary().unwrap()
    };
    let (mut all, rest) = (part(0, 100), part(100, 300));
    all.merge(&rest).unwrap();
    assert_eq!(all.rows(), 300);
    let mut settled = Summary::from_bytes(&part(0, 100).to_bytes()).unwrap();
    settled.merge(&Summary::from_bytes(&rest.to_bytes()).unwrap()).unwrap();
    assert_eq!(all.to_bytes(), settled.to_bytes());
}

#[test]
fn rankings_pools_and_weights() {
    let reward = [1.0, 0.0, 2.0];
    let (pi, any) = ([[0.5, 0.2], [0.1, 0.3], [0.5, 0.4]], [[0.6, 0.3], [0.2, 0.3], [0.9, 0.5]]);
    let sized = Slates::new(&reward).structure(Structure::Ranking(Pool::Size(4)));
    let sized = sized.target("new", &pi).anywhere("new", &any).evaluate(&points()).unwrap();
    let pooled = Slates::new(&reward).structure(Structure::Ranking(Pool::Column("items".into())));
    let pooled = pooled.target("new", &pi).anywhere("new", &any).pool(&[4.0; 3]).evaluate(&points()).unwrap();
    assert_eq!(sized.policies[1].mean, pooled.policies[1].mean);
    let weights: Vec<f64> = pi
        .iter()
        .zip(&any)
        .map(|(pi, any)| slateval::ranking_weight(4, 2, pi.iter().sum(), any.iter().sum()))
        .collect();
    let given = Slates::new(&reward).structure(Structure::Given).weight("new", &weights);
    let settings = points().with_correction(slateval::Correction::None);
    let given = given.evaluate(&settings).unwrap();
    let expected: f64 = weights.iter().zip(&reward).map(|(g, r)| g * r).sum::<f64>() / 3.0;
    assert!((given.policies[1].mean.estimate.unwrap() - expected).abs() < 1e-12);
}

#[test]
fn several_targets_and_a_baseline() {
    let (reward, mu) = ([1.0, 0.0, 1.0, 0.0], [0.5; 4]);
    let slates = Slates::new(&reward).logging(&mu).target("old", &[0.6, 0.4, 0.6, 0.4]);
    let slates = slates.target("new", &[0.9, 0.1, 0.9, 0.1]).baseline("old").binning("log".parse().unwrap());
    let summary = slates.summary().unwrap();
    assert_eq!(summary.spec().binning, Binning { scale: Scale::Log, ..Binning::default() });
    let evaluation = slates.evaluate(&points()).unwrap();
    let against: Vec<&str> = evaluation.comparisons.iter().map(|c| c.baseline.as_str()).collect();
    assert_eq!(against, ["logging", "logging", "old"]);
    assert!((evaluation.policy("new").unwrap().mean.estimate.unwrap() - 0.9).abs() < 1e-12);
}

#[test]
fn anything_that_names_a_segment() {
    let (reward, mu) = ([1.0, 0.0, 1.0], [0.5; 3]);
    let door = || Slates::new(&reward).logging(&mu).target("new", &mu);
    let found = |slates: Slates<'_>| slates.summary().unwrap().segments().cloned().collect::<Vec<_>>();
    let text = |t: &str| Segment::Text(t.into());
    assert_eq!(found(door().by("s", ["b", "a", "b"])), [text("a"), text("b")]);
    let owned: Vec<String> = ["b", "a", "b"].map(String::from).to_vec();
    assert_eq!(found(door().by("s", &owned)), [text("a"), text("b")]);
    let borrowed = vec!["b", "a", "b"];
    assert_eq!(found(door().by("s", &borrowed)), [text("a"), text("b")]);
    assert_eq!(found(door().by("s", owned)), [text("a"), text("b")]);
    let options = vec![Some(1), None, Some(1)];
    assert_eq!(found(door().by("s", &options)), [Segment::Null, Segment::Int(1)]);
    assert_eq!(found(door().by("s", vec![true, false, true])), [Segment::Bool(false), Segment::Bool(true)]);
    assert_eq!(found(door().by("s", [u64::MAX, 3, 3])), [Segment::Int(3), text("18446744073709551615")]);
    assert_eq!(found(door().by("s", [Segment::Null, text("a"), text("a")])), [Segment::Null, text("a")]);
}

/// What is said, word for word.
#[test]
fn every_refusal_says_what_was_done() {
    let (reward, mu, pi) = ([1.0, 0.0, 1.0, 0.0], [0.5; 8], [0.4; 8]);
    let door = || Slates::new(&reward).logging(&mu).target("new", &pi);
    let says = |slates: Slates<'_>, expected: &str| {
        let error = slates.evaluate(&points()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    };
    let ragged = vec![vec![0.5]; 3];
    says(
        door().logging(&mu[..7]),
        "the logging propensities: there are 7 numbers and 4 rewards, but 7 is not a multiple of 4",
    );
    says(
        door().chi("new", &mu[..6]),
        "chi of target `new`: there are 6 numbers and 4 rewards, but 6 is not a multiple of 4",
    );
    says(door().logging(&ragged), "the logging propensities: given for 3 slates, but there are 4 rewards");
    says(door().logging(&[[0.5; 2]; 5]), "the logging propensities: given for 5 slates, but there are 4 rewards");
    says(
        door().logging(Slots::columns([&mu[..4], &mu[..3]])),
        "the logging propensities: slot 2 has 3 numbers, but there are 4 rewards",
    );
    says(
        door().target("other", &mu[..4]),
        "the propensities of target `other`: given for 1 slots, but the logging propensities for 2",
    );
    says(door().by("device", ["a"; 3]), "the segments `device`: there are 3 values, but 4 rewards");
    says(door().cluster("user", [1; 5]), "the clusters `user`: there are 5 values, but 4 rewards");
    says(door().chi("nwe", &pi), "chi `nwe`: there is no such target, only `new`");
    says(door().anywhere("nwe", &pi), "anywhere `nwe`: there is no such target, only `new`");
    says(door().weight("nwe", &pi[..4]), "weight `nwe`: there is no such target, only `new`");
    says(door().baseline("nwe"), "baseline `nwe`: must be one of the targets: `new`");
    says(door().target("new", &pi), "target `new`: two targets have this name");
    says(door().target("logging", &pi), "target `logging`: the name is reserved for the policy that wrote the log");
    says(Slates::new(&reward).logging(&mu), "target `(none)`: give at least one target policy");
    says(Slates::new(&reward).target("new", &pi), "structure auto needs logging propensities, and none were given");
    let ranking = |pool: &str| door().structure(format!("ranking:{pool}").parse().unwrap());
    says(ranking("9"), "structure ranking:9 needs anywhere probabilities of target `new`, and none were given");
    says(
        ranking("items").anywhere("new", &pi),
        "structure ranking:items needs the sizes of pools, and none were given",
    );
    says(
        ranking("1").anywhere("new", &pi),
        "structure `ranking:1`: slates have 2 slots, which cannot be filled from 1 items",
    );
    says(ranking("items").anywhere("new", &pi).pool(&[9.0; 2]), "the pool: there are 2 values, but 4 rewards");
    says(door().structure(Structure::Given), "structure given needs weights of target `new`, and none were given");
    says(
        door().structure(Structure::Given).weight("new", &pi[..3]),
        "the weights of target `new`: there are 3 values, but 4 rewards",
    );
    says(Slates::new(&[]).logging(&mu[..0]).target("new", &pi[..0]), "there are no rows");
    says(
        Slates::new(&[]).logging(&mu).target("new", &pi),
        "the logging propensities: there are 8 numbers, but no rewards",
    );
    let error = door().evaluate(&points().with_confidence(2.0)).unwrap_err();
    assert_eq!(error.to_string(), "confidence `2`: must lie between 0 and 1");
}

/// Rows are counted over all the data, slots from 1.
#[test]
fn bad_values_are_found_beyond_the_first_block() {
    let (reward, mu, pi) = (vec![1.0; 2000], vec![0.5; 4000], vec![0.4; 4000]);
    let with = |values: &Vec<f64>, place: usize, value: f64| {
        let mut values = values.clone();
        values[place] = value;
        values
    };
    let says = |reward: &[f64], mu: &[f64], pi: &[f64], chi: &[f64], expected: &str| {
        let slates = Slates::new(reward).logging(mu).target("new", pi).chi("new", chi);
        let error = slates.summary().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    };
    says(
        &with(&reward, 1500, f64::NAN),
        &mu,
        &pi,
        &pi,
        "the reward is NaN in row 1500 (counted from 0): rewards must be",
    );
    says(
        &reward,
        &with(&mu, 3001, 0.0),
        &pi,
        &pi,
        "the logging propensity of slot 2 is 0 in row 1500 (counted from 0): a logging propensity lies in (0, 1]",
    );
    says(
        &reward,
        &mu,
        &with(&pi, 3000, 1.5),
        &pi,
        "the target propensity of slot 1 of `new` is 1.5 in row 1500 (counted from 0): a target propensity lies in [0, 1]",
    );
    says(
        &reward,
        &mu,
        &pi,
        &with(&pi, 3999, f64::INFINITY),
        "chi of slot 2 of `new` is inf in row 1999 (counted from 0): chi must be a finite number",
    );
    says(
        &reward,
        &with(&mu, 3001, f64::NAN),
        &pi,
        &pi,
        "slot 2 of row 1500 (counted from 0) is missing, NaN, for logging but not for target `new`",
    );
    says(
        &reward,
        &mu,
        &with(&pi, 3001, f64::NAN),
        &pi,
        "slot 2 of row 1500 (counted from 0) is missing, NaN, for target `new` but not for logging",
    );
}

#[test]
fn a_chunk_says_what_the_summary_is_of() {
    let (reward, mu) = ([1.0, 0.0], [0.5; 2]);
    let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"])).unwrap();
    let before = summary.to_bytes();
    let door = || Slates::new(&reward).logging(&mu).target("new", &mu);
    let mut says = |slates: Slates<'_>, expected: &str| {
        let error = slates.add_to(&mut summary).unwrap_err();
        assert!(matches!(error, Error::Mismatch(_)), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    says(door().structure(Structure::Product), "structure: product against additive");
    says(door().target("other", &mu), "policies: `new`, `other` against `new`");
    says(door().chi("new", &mu), "policies: `new` (with chi) against `new`");
    says(door().by("device", ["a", "b"]), "segments by `device` against no segments");
    assert_eq!(summary.to_bytes(), before);
    door().add_to(&mut summary).unwrap();
    assert_eq!(summary.rows(), 2);
}

/// A refused block, chunk, slate or summary leaves the summary as it was, to the last bit.
#[test]
fn an_error_changes_nothing() {
    let slots = 2;
    let log = log(11, 1200, slots, false);
    let (mu, pi, chi) = (flat(&log.mu, slots), flat(&log.pi, slots), flat(&log.chi, slots));
    let structures = ["auto", "additive", "product"].map(|text| text.parse().unwrap());
    for structure in structures {
        for spec in [Spec::new(structure, ["new"]).with_chi()].into_iter().flat_map(|s| [s.clone(), s.by("device")]) {
            let mut summary =
                slates(&spec, &log.reward, (&mu).into(), (&pi).into(), (&chi).into(), 0).summary().unwrap();
            let before = summary.to_bytes();
            for field in [
                Field::Reward,
                Field::Logging { slot: 1 },
                Field::Target { policy: 0, slot: 1 },
                Field::Chi { policy: 0, slot: 1 },
            ] {
                let mut block = Block::new(&spec);
                // More slots than any slate had, and rewards beyond all others.
                block.reset(100, 4);
                for field in block.fields() {
                    block.column_mut(field).fill(if field == Field::Reward { 1e9 } else { 0.25 });
                }
                if spec.by.is_some() {
                    (0..100).for_each(|row| block.set_segment(row, &Segment::Int(row as i64)));
                }
                block.column_mut(field)[99] = f64::NEG_INFINITY;
                let error = summary.add(&block).unwrap_err();
                assert!(matches!(&error, Error::BadValue { row: 99, field: found, .. } if *found == field), "{error}");
                assert_eq!(summary.to_bytes(), before);
            }
            for bad in [0, 600, 1199] {
                let mut pi = pi.clone();
                pi[bad * slots] = 7.0;
                let chunk = slates(&spec, &log.reward, (&mu).into(), (&pi).into(), (&chi).into(), 0);
                assert!(matches!(chunk.add_to(&mut summary), Err(Error::BadValue { row, .. }) if row == bad));
                assert_eq!(summary.to_bytes(), before);
            }
            let mut sums = Accumulator::new(spec.clone()).unwrap();
            let slate = |pi| Slate::new(1.0).logging(&[0.5, 0.5]).targets(pi).chi(&[&[0.0, 0.0]]).segment("new");
            sums.record(&slate(&[&[0.5, 0.5]])).unwrap();
            let error = sums.record(&slate(&[&[0.5, 2.0]])).unwrap_err();
            assert!(matches!(error, Error::BadValue { row: 1, .. }), "{error}");
            assert_eq!(sums.rows(), 1);
        }
    }
}

#[test]
fn too_many_segments_change_nothing() {
    let spec = Spec::new(Structure::Additive, ["new"]).by("s");
    let most = Summary::SEGMENTS;
    let (reward, mu) = (vec![1.0; most + 1], vec![0.5; most + 1]);
    let door = |rows: usize, from: usize| {
        Slates::new(&reward[..rows]).logging(&mu[..rows]).target("new", &mu[..rows]).by("s", from..from + rows)
    };
    let mut summary = Summary::new(spec.clone()).unwrap();
    door(most - 1, 1).add_to(&mut summary).unwrap();
    let before = summary.to_bytes();
    let refused =
        |result: slateval::Result<()>| assert!(matches!(result, Err(Error::TooManySegments { .. })), "{result:?}");
    refused(door(2, most + 7).add_to(&mut summary));
    let mut other = Summary::new(spec.clone()).unwrap();
    door(2, most + 7).add_to(&mut other).unwrap();
    refused(summary.merge(&other));
    let mut block = Block::new(&spec);
    block.reset(2, 1);
    block.fields().into_iter().for_each(|field| block.column_mut(field).fill(0.5));
    (0..2).for_each(|row| block.set_segment(row, &Segment::Int(-1 - row as i64)));
    refused(summary.add(&block));
    assert_eq!(summary.to_bytes(), before);
    let mut sums = Accumulator::new(spec).unwrap();
    let slate = Slate::new(1.0).logging(&[0.5]).targets(&[&[0.5]]);
    (0..most as i64).for_each(|segment| sums.record(&slate.clone().segment(segment)).unwrap());
    refused(sums.record(&slate.clone().segment("one more")));
    sums.record(&slate.segment(7)).unwrap();
    assert_eq!(sums.segment_count(), most);
    assert_eq!(sums.rows(), most as u64 + 1);
    refused(door(most + 1, 0).summary().map(|_| ()));
}

#[test]
fn what_a_recorded_slate_lacks() {
    let mut sums = Accumulator::new(Spec::new(Structure::Auto, ["new", "old"]).with_chi()).unwrap();
    let mut says = |slate: Slate<'_>, expected: &str| {
        let error = sums.record(&slate).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
        assert_eq!(sums.rows(), 0);
    };
    let (two, one): (&[f64], &[f64]) = (&[0.5, 0.5], &[0.5]);
    let slate = || Slate::new(1.0).logging(two).targets(&[&[0.5, 0.5], &[0.5, 0.5]]).chi(&[&[0.5, 0.5], &[0.5, 0.5]]);
    says(slate().targets(&[&[0.5, 0.5]]), "targets: given for 1 targets, but the summary is of 2");
    says(slate().chi(&[]), "chi: given for 0 targets, but the summary is of 2");
    says(slate().logging(one), "the target propensities of `new`: given for 2 slots, but the slate has 1");
    says(slate().chi(&[&[0.5, 0.5], &[0.5]]), "chi of `old`: given for 1 slots, but the slate has 2");
    says(
        slate().logging(&[0.5, f64::NAN]),
        "slot 2 of row 0 (counted from 0) is missing, NaN, for logging but not for target `new`",
    );
    let mut given = Accumulator::new(Spec::new(Structure::Given, ["new"])).unwrap();
    let error = given.record(&Slate::new(1.0)).unwrap_err().to_string();
    assert_eq!(error, "weights: given for 0 targets, but the summary is of 1");
    given.record(&Slate::new(1.0).weights(&[1.5])).unwrap();
    let mut ranking = Accumulator::new(Spec::new(Structure::Ranking(Pool::Column("items".into())), ["new"])).unwrap();
    let slate = Slate::new(1.0).targets(&[&[0.5, 0.2]]).anywhere(&[&[0.6, 0.3]]);
    let error = ranking.record(&slate).unwrap_err().to_string();
    assert!(error.starts_with("the number of candidates is NaN in row 0"), "{error}");
    ranking.record(&slate.pool(4)).unwrap();
    assert_eq!((given.rows(), ranking.rows()), (1, 1));
}

#[test]
#[should_panic(expected = "made for another specification")]
fn a_block_of_another_specification_panics() {
    let spec = Spec::new(Structure::Additive, ["new"]);
    let mut summary = Summary::new(spec.clone().clustered("user")).unwrap();
    let _ = summary.add(&Block::new(&spec));
}

#[test]
fn settings_are_built_like_specifications() {
    let settings = Settings::default()
        .with_alphas([0.2])
        .with_quantiles(vec![0.5])
        .with_seed(7)
        .with_draws(300)
        .with_threads(2)
        .with_min_propensity(0.1)
        .with_debiased_cvar()
        .with_structure(Structure::Order(2));
    assert_eq!((settings.alphas, settings.quantiles), (vec![0.2], vec![0.5]));
    assert_eq!((settings.seed, settings.draws, settings.threads), (7, 300, Some(2)));
    assert_eq!((settings.min_propensity, settings.debias_cvar), (Some(0.1), true));
    assert_eq!(settings.structure, Some(Structure::Order(2)));
}
