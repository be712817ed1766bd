//! Weights, checked by enumerating every slate. All numbers are small dyadic fractions: sums are exact in doubles.
#![allow(clippy::unwrap_used)]

mod common;

use proptest::prelude::*;
use slateval::{Accumulator, Error, Family, Settings, Slate, Slates, Spec, Structure, Summary, ranking_weight};

/// Every slate of `k` slots with `n` actions each.
fn slates(k: usize, n: usize) -> Vec<Vec<usize>> {
    (0..n.pow(k as u32)).map(|i| (0..k).map(|slot| i / n.pow(slot as u32) % n).collect()).collect()
}

/// Uniform logging, factored target: `(E[G U], Var G, E[G^2])` over all slates.
fn enumerate(structure: &Structure, k: usize, pi: &[f64], u: impl Fn(&[usize]) -> f64) -> (f64, f64, f64) {
    let n = pi.len();
    let all = slates(k, n);
    let ratios: Vec<Vec<f64>> = (0..k).map(|s| all.iter().map(|a| pi[a[s]] * n as f64).collect()).collect();
    let columns: Vec<&[f64]> = ratios.iter().map(Vec::as_slice).collect();
    let g = structure.weights(&columns);
    let mean = |f: &dyn Fn(usize) -> f64| (0..all.len()).map(f).sum::<f64>() / all.len() as f64;
    let (first, second) = (mean(&|i| g[i]), mean(&|i| g[i] * g[i]));
    assert!((first - 1.0).abs() < 1e-12, "a weight has mean 1");
    (mean(&|i| g[i] * u(&all[i])), second - first * first, second)
}

#[test]
fn the_papers_m_slot_weight_is_biased_and_order_m_is_not() {
    let (paper, order) = (Structure::PaperOrder(2), Structure::Order(2));

    let always_first = [1.0, 0.0];
    let pair = |a: &[usize]| if a[0] == 0 && a[1] == 0 { 0.5 } else { 0.0 };
    assert_eq!(enumerate(&paper, 3, &always_first, pair), (0.75, 15.0, 16.0));
    assert_eq!(enumerate(&order, 3, &always_first, pair), (0.5, 6.0, 7.0));

    // In thirds: u is 3 P(U = 1), so that every product is exact.
    let count = |a: &[usize]| a.iter().filter(|&&a| a == 0).count() as f64;
    assert_eq!(enumerate(&paper, 3, &always_first, count), (4.5, 15.0, 16.0));
    assert_eq!(enumerate(&order, 3, &always_first, count), (3.0, 6.0, 7.0));

    let mostly_first = [0.75, 0.25];
    let pairs = |a: &[usize]| 0.5 * f64::from(a[0] == 0 && a[1] == 0) + 0.25 * f64::from(a[2] != a[3]);
    assert_eq!(enumerate(&paper, 4, &mostly_first, pairs), (0.625, 75.0 / 8.0, 83.0 / 8.0));
    assert_eq!(enumerate(&order, 4, &mostly_first, pairs), (0.375, 11.0 / 8.0, 19.0 / 8.0));
}

#[test]
fn second_moments_for_three_slots_of_three() {
    let second = |s: Structure| enumerate(&s, 3, &[1.0, 0.0, 0.0], |_| 1.0).2;
    for (m, expected) in [(1, 7.0), (2, 19.0), (3, 27.0)] {
        assert!((second(Structure::Order(m)) - expected).abs() < 1e-12);
    }
    for (m, expected) in [(1, 7.0), (2, 37.0), (3, 27.0)] {
        assert!((second(Structure::PaperOrder(m)) - expected).abs() < 1e-12);
    }
}

/// Interactions are unbiased for exactly the CDFs they assume: a sum of functions of the named sets.
#[test]
fn interactions_are_unbiased_for_their_own_family() {
    let pi = [0.5, 0.375, 0.125];
    let family = Structure::Interactions(Family::new([vec![0, 1], vec![2, 3]]).unwrap());
    let u = |a: &[usize]| (0.25 * f64::from(a[0] == a[1]) + 0.125 * f64::from(a[2] != a[3])) + 0.0625 * a[1] as f64;
    let truth: f64 = slates(4, 3).iter().map(|a| a.iter().map(|&a| pi[a]).product::<f64>() * u(a)).sum();
    let (estimate, variance, _) = enumerate(&family, 4, &pi, u);
    assert!((estimate - truth).abs() < 1e-12);
    let (_, order_2, _) = enumerate(&Structure::Order(2), 4, &pi, u);
    assert!(variance < order_2, "assuming more costs less variance");
    // An interaction that was not named is missed.
    let unnamed = |a: &[usize]| f64::from(a[0] == 0 && a[2] == 0);
    let truth = 0.25;
    assert!((enumerate(&family, 4, &pi, unnamed).0 - truth).abs() > 0.02);
}

#[test]
fn closing_a_family_adds_all_subsets_once() {
    let z = [[0.5], [-0.25], [2.0]];
    let ratios: Vec<Vec<f64>> = z.iter().map(|z| vec![1.0 + z[0]]).collect();
    let columns: Vec<&[f64]> = ratios.iter().map(Vec::as_slice).collect();
    let whole: Structure = "interactions:1+2+3,2+3".parse().unwrap();
    assert_eq!(whole.weights(&columns), Structure::Product.weights(&columns));
    let single: Structure = "interactions:1".parse().unwrap();
    assert_eq!(single.weights(&columns), Structure::Additive.weights(&columns));
}

proptest! {
    #[test]
    fn order_runs_from_additive_to_product(ratios in prop::collection::vec(prop::collection::vec(0.0..20.0f64, 5), 1..7)) {
        let columns: Vec<&[f64]> = ratios.iter().map(Vec::as_slice).collect();
        let k = columns.len();
        let weights = |s: Structure| s.weights(&columns);
        prop_assert_eq!(weights(Structure::Order(1)), weights(if k == 1 { Structure::Product } else { Structure::Additive }));
        prop_assert_eq!(weights(Structure::Order(k)), weights(Structure::Product));
        // The recurrence itself, one order below where the shortcut takes over, against all subsets.
        for m in 1..=k {
            let subsets = |row: usize| -> f64 {
                (0..1u32 << k)
                    .filter(|s| s.count_ones() as usize <= m)
                    .map(|s| (0..k).filter(|b| s >> b & 1 == 1).map(|b| columns[b][row] - 1.0).product::<f64>())
                    .sum()
            };
            for (row, g) in weights(Structure::Order(m)).into_iter().enumerate() {
                let exact = subsets(row);
                prop_assert!((g - exact).abs() <= 1e-12 * columns.iter().map(|y| 1.0 + y[row]).product::<f64>().max(1.0));
            }
        }
    }
}

/// Ordered choices of `k` out of `n`.
fn rankings(n: usize, k: usize) -> Vec<Vec<usize>> {
    slates(k, n).into_iter().filter(|a| (0..k).all(|i| !a[..i].contains(&a[i]))).collect()
}

#[test]
fn ranking_three_of_five_has_the_known_range_and_second_moment() {
    let all = rankings(5, 3);
    let weight = |a: &Vec<usize>| {
        let own = a.iter().enumerate().filter(|&(slot, &item)| slot == item).count() as f64;
        let anywhere = a.iter().filter(|&&item| item < 3).count() as f64;
        ranking_weight(5, 3, own, anywhere)
    };
    let g: Vec<f64> = all.iter().map(weight).collect();
    assert_eq!(g.iter().copied().fold(f64::INFINITY, f64::min), -3.0);
    assert_eq!(g.iter().copied().fold(f64::NEG_INFINITY, f64::max), 13.0);
    assert_eq!(g.iter().sum::<f64>() / g.len() as f64, 1.0);
    assert_eq!(g.iter().map(|g| g * g).sum::<f64>() / g.len() as f64, 13.0);
}

/// `q' pinv(Gamma) 1_A` with `Gamma = E[1_A 1_A']`, by brute force: the ranking weight must be the same number for any
/// target, a mixture of rankings included.
#[test]
fn the_ranking_weight_is_the_pseudo_inverse() {
    let mut random = common::Random(7);
    for (k, n) in [(1, 3), (2, 2), (2, 3), (2, 5), (3, 3), (3, 4), (3, 5), (4, 4)] {
        let all = rankings(n, k);
        let indicator = |a: &Vec<usize>| {
            let mut x = vec![0.0; k * n];
            a.iter().enumerate().for_each(|(slot, &item)| x[slot * n + item] = 1.0);
            x
        };
        let size = k * n;
        let mut gamma = vec![vec![0.0; size]; size];
        for x in all.iter().map(indicator) {
            for i in 0..size {
                for j in 0..size {
                    gamma[i][j] += x[i] * x[j] / all.len() as f64;
                }
            }
        }
        let chosen: Vec<Vec<usize>> = (0..3).map(|_| all[random.below(all.len())].clone()).collect();
        let mixture = random.simplex(3, 0.0);
        let mut q = vec![0.0; size];
        for (ranking, p) in chosen.iter().zip(&mixture) {
            indicator(ranking).iter().enumerate().for_each(|(i, x)| q[i] += p * x);
        }
        let solution = least_norm_solution(&gamma, &q);
        for a in &all {
            let exact: f64 = indicator(a).iter().zip(&solution).map(|(x, s)| x * s).sum();
            let own: f64 = a.iter().enumerate().map(|(slot, &item)| q[slot * n + item]).sum();
            let anywhere: f64 = a.iter().map(|&item| (0..k).map(|slot| q[slot * n + item]).sum::<f64>()).sum();
            assert!((ranking_weight(n, k, own, anywhere) - exact).abs() < 1e-9, "K={k} N={n}");
        }
    }
}

/// The least-norm solution of a consistent symmetric system: conjugate gradients never leave the range of the matrix.
fn least_norm_solution(matrix: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let apply = |x: &[f64]| -> Vec<f64> { matrix.iter().map(|r| r.iter().zip(x).map(|(a, b)| a * b).sum()).collect() };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut x = vec![0.0; b.len()];
    let mut residual = b.to_vec();
    let mut direction = residual.clone();
    for _ in 0..10 * b.len() {
        let square = dot(&residual, &residual);
        if square < 1e-28 {
            break;
        }
        let image = apply(&direction);
        let step = square / dot(&direction, &image);
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= step * i);
        let turn = dot(&residual, &residual) / square;
        direction = residual.iter().zip(&direction).map(|(r, d)| r + turn * d).collect();
    }
    x
}

#[test]
#[should_panic(expected = "one ratio for each slate")]
fn columns_of_different_lengths_are_no_slates() {
    Structure::Additive.weights(&[&[1.0, 2.0], &[1.0]]);
}

#[test]
fn a_set_of_too_many_slots_is_refused() {
    assert!(Family::new([(0..17).collect()]).is_err());
}

/// A short text can name sets whose subsets would fill any memory.
#[test]
fn a_family_with_too_many_subsets_is_refused_before_it_is_made() {
    let window =
        |first: usize, slots: usize| (first..first + slots).map(|k| k.to_string()).collect::<Vec<_>>().join("+");
    let windows = |count: usize| (1..=count).map(|first| window(first, 16)).collect::<Vec<_>>().join(",");
    let largest: Structure = format!("interactions:{}", window(1, 16)).parse().unwrap();
    assert_eq!(largest.to_string(), format!("interactions:{}", window(1, 16)));
    let refused = format!("interactions:{}", windows(2000)).parse::<Structure>().unwrap_err().to_string();
    assert!(refused.contains("more than 65536 sets"), "{}", &refused[refused.len() - 200..]);
}

#[test]
fn an_order_beyond_all_slots_is_refused_however_large() {
    for order in [2, usize::MAX] {
        let slates = Slates::new(&[1.0, 0.0]).logging(&[0.5, 0.5]).target("new", &[0.9, 0.1]);
        let evaluated = slates.structure(Structure::Order(order)).evaluate(&Settings::default());
        assert!(matches!(evaluated, Err(Error::BadStructure { .. })), "{order}: {evaluated:?}");
    }
}

/// A slate shorter than `m` has no set of `m` slots: it weighs 1 in the paper's equation, whatever slates stand beside it.
#[test]
fn the_papers_weight_of_a_short_slate_is_its_own() {
    for (m, longest) in [(12, 30), (20, 40)] {
        let mut sums = Accumulator::new(Spec::new(Structure::PaperOrder(m), ["new"])).unwrap();
        for (slots, reward) in [(10, 1.0), (longest, 0.0)] {
            let pi: Vec<f64> = (0..slots).map(|slot| if slot % 2 == 0 { 0.8 } else { 0.3 }).collect();
            let (mu, pi): (_, &[_]) = (vec![0.5; slots], &[&pi[..]]);
            sums.record(&Slate::new(reward).logging(&mu).targets(pi)).unwrap();
        }
        let evaluation = Summary::from(sums.finish()).evaluate(&Settings::default()).unwrap();
        assert_eq!(evaluation.policy("new").unwrap().mean.estimate, Some(0.5), "{m} of {longest}");
    }
}
