//! Fewer points that draw the same curve.

use slateval::Cdf;

/// Places of at most `most` points of curves over the same `xs`, at equal distances along the steepest, their ends among
/// them.
pub(crate) fn by_arc_length(xs: &[f64], curves: &[&[f64]], most: usize) -> Vec<usize> {
    let count = curves.iter().map(|ys| ys.len()).fold(xs.len(), usize::min);
    if count <= most || most < 2 {
        return (0..count).collect();
    }
    let extent = |values: &[f64]| {
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        if high > low { high - low } else { 1.0 }
    };
    let (width, heights) = (extent(xs), curves.iter().map(|ys| extent(ys)).collect::<Vec<f64>>());
    let rise = |i: usize| {
        let rises = curves.iter().zip(&heights).map(|(ys, height)| ((ys[i] - ys[i - 1]) / height).abs());
        rises.fold(0.0, f64::max)
    };
    let step = |i: usize| ((xs[i] - xs[i - 1]) / width).hypot(rise(i));
    let total: f64 = (1..count).map(step).sum();
    let (mut kept, mut gone) = (vec![0], 0.0);
    for i in 1..count - 1 {
        gone += step(i);
        if gone >= total * kept.len() as f64 / (most - 1) as f64 && kept.len() < most - 1 {
            kept.push(i);
        }
    }
    kept.push(count - 1);
    kept
}

/// A CDF with at most so many points.
pub(crate) fn thinned(cdf: &Cdf, most: usize) -> Cdf {
    cdf.at_points(&by_arc_length(&cdf.reward, &[&cdf.estimate], most))
}

/// CDFs with at most so many points: at the same rewards, so that they can be read off beside each other.
pub(crate) fn thinned_together(cdfs: &[&Cdf], most: usize) -> Vec<Cdf> {
    match cdfs {
        [first, rest @ ..] if rest.iter().all(|cdf| cdf.reward == first.reward) => {
            let curves: Vec<&[f64]> = cdfs.iter().map(|cdf| cdf.estimate.as_slice()).collect();
            let kept = by_arc_length(&first.reward, &curves, most);
            cdfs.iter().map(|cdf| cdf.at_points(&kept)).collect()
        }
        _ => cdfs.iter().map(|cdf| thinned(cdf, most)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_stay_and_points_follow_the_curve() {
        // Flat for a long while, then a cliff: the cliff takes half of the points.
        let xs: Vec<f64> = (0..2000).map(f64::from).collect();
        let ys: Vec<f64> = xs.iter().map(|x| if *x < 1000.0 { 0.0 } else { ((x - 1000.0) / 100.0).min(1.0) }).collect();
        let kept = by_arc_length(&xs, &[&ys], 100);
        assert!(kept.len() <= 100 && kept.len() > 90, "{}", kept.len());
        assert_eq!((kept[0], kept[kept.len() - 1]), (0, 1999));
        assert!(kept.windows(2).all(|w| w[0] < w[1]));
        let cliff = kept.iter().filter(|i| (1000..=1100).contains(*i)).count();
        assert!(cliff > 40, "{cliff}");
    }

    #[test]
    fn few_points_stay_as_they_are() {
        assert_eq!(by_arc_length(&[0.0, 1.0], &[&[0.0, 1.0]], 300), [0, 1]);
        assert_eq!(by_arc_length(&[], &[&[]], 300), [0usize; 0]);
        assert_eq!(by_arc_length(&[5.0; 4], &[&[1.0; 4]], 2), [0, 3]);
    }
}
