//! Many draws of the error process: how much what is read off a CDF varies.
//! See docs/methods.md, sections 6.7 and 6.14.

use crate::correction::weight_sums::Bin;
use crate::distribution::estimator::Estimator;
use crate::interval::drawable::Drawable;
use crate::interval::drawn_curves::DrawnCurves;
use crate::interval::process::Process;
use crate::interval::readings::Readings;
use crate::interval::thinning::Thinning;
use crate::math::normal;
use crate::spec::settings::Settings;

/// The runs of bins that draws of a cell are made on.
#[derive(Debug)]
pub(crate) struct Grids {
    /// Those of CDFs.
    pub(crate) of_curves: Thinning,
    /// Those that orders are tested on. A test compares what it finds on them, so that coarser ones would change not only
    /// draws but also what is found.
    pub(crate) of_tests: Thinning,
}

impl Grids {
    /// For so many draws.
    pub(crate) fn new(bins: &[Bin], draws: usize) -> Self {
        Grids { of_curves: Thinning::new(bins, draws), of_tests: Thinning::fine(bins) }
    }
}

/// What each draw said of each member.
#[derive(Debug)]
pub(crate) struct Draws {
    /// `[member][place][draw]`. The first place is `sup_v |W(v)|`, and the others are what is read off the CDF moved by `W`
    /// and repaired.
    said: Vec<Vec<Vec<f64>>>,
}

impl Draws {
    /// Draws the errors of some members around their distributions, and reads each draw.
    pub(crate) fn new(
        process: &Process,
        members: &[&Estimator<'_>],
        readings: &Readings,
        settings: &Settings,
        grid: &Thinning,
    ) -> Self {
        let drawable = Drawable::new(process, grid);
        let curves: Vec<DrawnCurves<'_>> = members.iter().map(|e| DrawnCurves::new(&e.distribution, grid)).collect();
        let read = |draw: usize| {
            let mut said = Vec::with_capacity(curves.len() * (1 + readings.len()));
            for (m, path) in drawable.draw(settings.seed, draw).into_iter().enumerate() {
                let far = path.iter().zip(drawable.missed(m)).map(|(w, missed)| w.abs() + missed);
                said.push(largest(far));
                said.extend(readings.read(curves[m].curve(&curves[m].cdf(path))));
            }
            said
        };
        let read = in_parallel(settings.draws, settings.threads, read);
        let column = |m: usize, place: usize| read.iter().map(|said| said[m * (1 + readings.len()) + place]).collect();
        let member = |m: usize| (0..=readings.len()).map(|place| column(m, place)).collect();
        Draws { said: (0..members.len()).map(member).collect() }
    }

    /// What each draw said of a functional.
    pub(crate) fn values(&self, member: usize, functional: usize) -> &[f64] {
        &self.said[member][1 + functional]
    }

    pub(crate) fn mean(&self, member: usize, functional: usize) -> f64 {
        let values = self.values(member, functional);
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Half the width of the band that holds a member's whole path with this probability.
    pub(crate) fn half_width(&self, member: usize, confidence: f64) -> f64 {
        select_quantile(&mut self.said[member][0].clone(), confidence)
    }
}

/// The largest of some distances; [`f64::max`] takes longer, for it looks for numbers that are none.
pub(crate) fn largest(distances: impl Iterator<Item = f64>) -> f64 {
    distances.fold(0.0, |largest, x| if x > largest { x } else { largest })
}

/// Does some pieces of work, shared out among threads, and returns the results in order.
pub(crate) fn in_parallel<T: Send>(pieces: usize, threads: Option<usize>, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(available).clamp(1, pieces.max(1));
    if threads == 1 {
        return (0..pieces).map(work).collect();
    }
    let mut results: Vec<Option<T>> = (0..pieces).map(|_| None).collect();
    std::thread::scope(|scope| {
        let work = &work;
        let share = |worker: usize| (worker..pieces).step_by(threads).map(|piece| (piece, work(piece)));
        let workers: Vec<_> = (0..threads).map(|w| scope.spawn(move || share(w).collect::<Vec<_>>())).collect();
        for worker in workers {
            match worker.join() {
                Ok(done) => done.into_iter().for_each(|(piece, result)| results[piece] = Some(result)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    results.into_iter().flatten().collect()
}

/// The two quantiles between which values lie with this probability.
pub(crate) fn central(mut values: Vec<f64>, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    (select_quantile(&mut values, tail), select_quantile(&mut values, 1.0 - tail))
}

/// The same for a quantity whose draws lie to one side of its estimate, or whose error is skewed: percentiles corrected for
/// bias (Efron), and moved by `shift` standard errors. Where a share `p` of the draws lies below the estimate, the estimate
/// itself is taken to lie as far to the other side of the truth. Draws that lie at the estimate, as most do beside an atom,
/// count half: rounding must not decide on which side they lie.
pub(crate) fn corrected(mut values: Vec<f64>, estimate: f64, shift: f64, confidence: f64) -> (f64, f64) {
    let rounding = rounding_of(values.iter().chain([&estimate]));
    let below = values.iter().filter(|&&x| x < estimate - rounding).count();
    let at_most = values.iter().filter(|&&x| x <= estimate + rounding).count();
    let half = 0.5 / values.len() as f64;
    let share = ((below + at_most) as f64 / 2.0 / values.len() as f64).clamp(half, 1.0 - half);
    let z = normal::upper_quantile((1.0 - confidence) / 2.0);
    let moved = 2.0 * normal::quantile(share) + shift;
    let level = |z: f64| 1.0 - normal::upper_tail(z);
    (select_quantile(&mut values, level(moved - z)), select_quantile(&mut values, level(moved + z)))
}

/// How far apart rounding may bring equal draws.
fn rounding_of<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    1e-12 * values.fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// A quantile of values in any order, which are moved about: the same as of sorted ones, in a fraction of the time.
pub(crate) fn select_quantile(values: &mut [f64], level: f64) -> f64 {
    let place = level * (values.len() as f64 - 1.0);
    let (_, low, above) = values.select_nth_unstable_by(place.floor() as usize, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*low);
    between(*low, high, place.fract())
}

/// Intervals that hold all of several quantities at once with this probability: the `k`-th smallest and the `k`-th largest
/// draw of each, with the largest `k` for which enough draws lie within all of them.
pub(crate) fn envelope(quantities: &[Vec<f64>], confidence: f64) -> Vec<(f64, f64)> {
    let Some(draws) = quantities.first().map(Vec::len) else { return Vec::new() };
    let outside = (((1.0 - confidence) * draws as f64 + 1e-9).floor() as usize).min(draws - 1);
    // How many draws lie as far out as each one or further, at the quantity where it lies furthest out.
    let mut depths = vec![draws; draws];
    let mut sorted = Vec::with_capacity(quantities.len());
    for values in quantities {
        let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        // Ties count: an atom's own value is not extreme.
        let mut at_most = 0;
        for ties in order.chunk_by(|a, b| a.0 == b.0) {
            let below = at_most;
            at_most += ties.len();
            let depth = at_most.min(draws - below);
            ties.iter().for_each(|&(_, draw)| depths[draw] = depths[draw].min(depth));
        }
        sorted.push(order);
    }
    let (_, k, _) = depths.select_nth_unstable(outside);
    let k = (*k).clamp(1, draws.div_ceil(2));
    sorted.iter().map(|order| (order[k - 1].0, order[draws - k].0)).collect()
}

/// A quantile of sorted values, interpolated between neighbours.
#[cfg(test)]
fn quantile(sorted: &[f64], level: f64) -> f64 {
    let place = level * (sorted.len() as f64 - 1.0);
    let (below, share) = (place.floor(), place.fract());
    let low = sorted[below as usize];
    between(low, sorted[(below as usize + 1).min(sorted.len() - 1)], share)
}

fn between(low: f64, high: f64, share: f64) -> f64 {
    if share == 0.0 { low } else { low + share * (high - low) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::normals::{Stream, normals};

    /// Counted one by one.
    fn share_within(quantities: &[Vec<f64>], ends: &[(f64, f64)]) -> f64 {
        let draws = quantities[0].len();
        let inside = |draw: &usize| quantities.iter().zip(ends).all(|(q, (l, u))| *l <= q[*draw] && q[*draw] <= *u);
        (0..draws).filter(inside).count() as f64 / draws as f64
    }

    #[test]
    fn quantiles_need_no_sorted_values() {
        let mut values = normals(7, Stream::Rest, 0, 1000);
        values.extend([0.5; 40]);
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        for level in [0.0, 0.001, 0.025, 0.3, 0.5, 0.6908, 0.975, 1.0] {
            assert_eq!(select_quantile(&mut values, level).to_bits(), quantile(&sorted, level).to_bits(), "{level}");
        }
        assert_eq!(select_quantile(&mut [3.0], 0.4), 3.0);
    }

    #[test]
    fn draws_at_the_estimate_count_half_however_they_are_rounded() {
        // Most draws are those of an atom at 0.7; a few lie further out on one side.
        let draws = |atom: f64| -> Vec<f64> {
            (0..2000).map(|d| if d % 10 == 0 { 0.7 + f64::from(d) / 1e4 } else { atom }).collect()
        };
        let exact = corrected(draws(0.7), 0.7, 0.0, 0.95);
        for off in [-2.0, -1.0, 1.0, 2.0] {
            let found = corrected(draws(0.7 * (1.0 + off * f64::EPSILON)), 0.7, 0.0, 0.95);
            assert!((found.0 - exact.0).abs() < 1e-12 && (found.1 - exact.1).abs() < 1e-12, "{found:?} {exact:?}");
        }
    }

    #[test]
    fn an_envelope_holds_the_share_asked_for() {
        let independent: Vec<Vec<f64>> = (0..20).map(|draw| normals(7, Stream::Rest, draw, 1000)).collect();
        let ends = envelope(&independent, 0.9);
        let share = share_within(&independent, &ends);
        // One rank further in, each of the two ends of 20 quantities would leave at most one draw more outside.
        assert!((0.9..0.9 + 40.0 / 1000.0).contains(&share), "{share}");

        // One quantity: its own percentiles. An atom: itself.
        let ends = envelope(&independent[..1], 0.9);
        assert!((share_within(&independent[..1], &ends) - 0.9).abs() <= 0.002, "{ends:?}");
        let atom = vec![vec![3.0; 1000], vec![0.0; 1000]];
        assert_eq!(envelope(&atom, 0.9), [(3.0, 3.0), (0.0, 0.0)]);
        assert_eq!(envelope(&[], 0.9), []);
    }
}
