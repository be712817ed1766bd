//! Many draws of the error process: how much what is read off a CDF varies.
//! See docs/methods.md, sections 6.7 and 6.14.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::estimate::distribution::{Curve, Distribution, repair};
use crate::math::normal;
use crate::math::vector;
use crate::question::settings::Settings;
use crate::uncertainty::process::{DrawScratch, Drawable, Process};
use crate::uncertainty::readings::Readings;
use crate::uncertainty::thinning::Thinning;

/// What each draw said of each member.
#[derive(Debug)]
pub(crate) struct Draws {
    /// `[member][draw]`: `sup_v |W(v)|`.
    pub(crate) sup: Vec<Vec<f64>>,
    /// `[member][functional][draw]`: what is read off the CDF moved by `W` and repaired.
    pub(crate) values: Vec<Vec<Vec<f64>>>,
}

/// Draws that share a generator: small enough to keep all threads busy, and the same whatever their number.
const CHUNK: usize = 50;

impl Draws {
    /// Draws the errors of some members around their distributions, and reads each draw.
    pub(crate) fn new(process: &Process, members: &[&Distribution], readings: &Readings, settings: &Settings) -> Self {
        let read = |curve: Curve<'_>| readings.read(curve);
        let thinning = Thinning::new(&members[0].bins);
        let drawable = process.drawable(&thinning);
        let thinned: Vec<Distribution> = members.iter().map(|full| thinning.distribution(full)).collect();
        let chunks = settings.draws.div_ceil(CHUNK);
        let parts = in_parallel(chunks, settings.threads, |chunk| {
            let draws = CHUNK.min(settings.draws - chunk * CHUNK);
            draw_chunk(&drawable, &thinned, generator(settings.seed, chunk), draws, &read)
        });
        let functionals = read(members[0].curve()).len();
        let mut all = Draws {
            sup: vec![Vec::with_capacity(settings.draws); members.len()],
            values: vec![vec![Vec::with_capacity(settings.draws); functionals]; members.len()],
        };
        for draw in parts.into_iter().flatten() {
            for (member, (sup, values)) in draw.into_iter().enumerate() {
                all.sup[member].push(sup);
                all.values[member].iter_mut().zip(values).for_each(|(to, value)| to.push(value));
            }
        }
        // What a coarser grid makes of the estimate itself is taken off again.
        for ((values, full), thinned) in all.values.iter_mut().zip(members).zip(&thinned) {
            let (exact, coarse) = (read(full.curve()), read(thinned.curve()));
            for (draws, (exact, coarse)) in values.iter_mut().zip(exact.iter().zip(&coarse)) {
                draws.iter_mut().for_each(|value| *value += exact - coarse);
            }
        }
        all
    }

    pub(crate) fn mean(&self, member: usize, functional: usize) -> f64 {
        let values = &self.values[member][functional];
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Half the width of the band that holds a member's whole path with this probability.
    pub(crate) fn half_width(&self, member: usize, confidence: f64) -> f64 {
        let mut sup = self.sup[member].clone();
        sup.sort_unstable_by(f64::total_cmp);
        quantile(&sup, confidence)
    }
}

/// `(sup, read off)` of one member in one draw.
type Drawn = (f64, Vec<f64>);

#[inline(always)]
fn draw_chunk(
    process: &Drawable,
    members: &[Distribution],
    mut rng: Xoshiro256PlusPlus,
    draws: usize,
    read_off: &impl Fn(Curve<'_>) -> Vec<f64>,
) -> Vec<Vec<Drawn>> {
    let mut scratch = DrawScratch::default();
    let mut paths = process.paths();
    let mut drawn = Vec::with_capacity(draws);
    for _ in 0..draws {
        process.draw(&mut rng, &mut scratch, &mut paths);
        let read = |(path, distribution): (&mut Vec<f64>, &Distribution)| {
            let sup = path.iter().fold(0.0, |sup: f64, w| vector::max(sup, w.abs()));
            path.iter_mut().zip(&distribution.repaired).for_each(|(w, f)| *w += f);
            repair(path);
            (sup, read_off(Curve { bins: &distribution.bins, cdf: path }))
        };
        drawn.push(paths.iter_mut().zip(members).map(read).collect());
    }
    drawn
}

/// The generator of one chunk of draws: far from every other's, for it is seeded by a hash.
pub(crate) fn generator(seed: u64, chunk: usize) -> Xoshiro256PlusPlus {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (chunk as u64).wrapping_mul(0xd1b5_4a32_d192_ed03);
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

/// Runs `work` for each chunk, on some threads, and returns the results in order.
pub(crate) fn in_parallel<T: Send>(chunks: usize, threads: Option<usize>, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(available).clamp(1, chunks.max(1));
    if threads == 1 {
        return (0..chunks).map(work).collect();
    }
    let share = |worker: usize| (worker..chunks).step_by(threads);
    let mut results: Vec<Option<T>> = (0..chunks).map(|_| None).collect();
    std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..threads)
            .map(|worker| scope.spawn(move || share(worker).map(|chunk| (chunk, work(chunk))).collect::<Vec<_>>()))
            .collect();
        for worker in workers {
            match worker.join() {
                Ok(done) => done.into_iter().for_each(|(chunk, result)| results[chunk] = Some(result)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    results.into_iter().flatten().collect()
}

/// The two quantiles between which values lie with this probability.
pub(crate) fn central(mut values: Vec<f64>, confidence: f64) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    (quantile(&values, tail), quantile(&values, 1.0 - tail))
}

/// The same for a quantity whose draws lie to one side of its estimate, or whose error is skewed: percentiles corrected for
/// bias (Efron), and moved by `shift` standard errors. Where a share `p` of the draws lies below the estimate, the estimate
/// itself is taken to lie as far to the other side of the truth.
pub(crate) fn corrected(mut values: Vec<f64>, estimate: f64, shift: f64, confidence: f64) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let below = values.partition_point(|&x| x < estimate);
    let at_most = values.partition_point(|&x| x <= estimate);
    let half = 0.5 / values.len() as f64;
    let share = ((below + at_most) as f64 / 2.0 / values.len() as f64).clamp(half, 1.0 - half);
    let z = normal::upper_quantile((1.0 - confidence) / 2.0);
    let moved = 2.0 * normal::quantile(share) + shift;
    let level = |z: f64| 1.0 - normal::upper_tail(z);
    (quantile(&values, level(moved - z)), quantile(&values, level(moved + z)))
}

/// Intervals that hold all of several quantities at once with this probability: the `k`-th smallest and the `k`-th largest
/// draw of each, with the largest `k` for which enough draws lie within all of them.
pub(crate) fn envelope(quantities: &[Vec<f64>], confidence: f64) -> Vec<(f64, f64)> {
    let Some(draws) = quantities.first().map(Vec::len) else { return Vec::new() };
    let sorted: Vec<Vec<f64>> = quantities
        .iter()
        .map(|values| {
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        })
        .collect();
    // How many draws lie as far out as this one or further, at the quantity where it lies furthest out. Ties count: an
    // atom's own value is not extreme.
    let depth = |draw: usize| {
        let of = |(values, sorted): (&Vec<f64>, &Vec<f64>)| {
            let x = values[draw];
            let at_most = sorted.partition_point(|&y| y <= x);
            let at_least = draws - sorted.partition_point(|&y| y < x);
            at_most.min(at_least)
        };
        quantities.iter().zip(&sorted).map(of).min().unwrap_or(draws)
    };
    let mut depths: Vec<usize> = (0..draws).map(depth).collect();
    depths.sort_unstable();
    let outside = ((1.0 - confidence) * draws as f64 + 1e-9).floor() as usize;
    let k = depths[outside.min(draws - 1)].clamp(1, draws.div_ceil(2));
    sorted.iter().map(|sorted| (sorted[k - 1], sorted[draws - k])).collect()
}

/// A quantile of sorted values, interpolated between neighbours.
pub(crate) fn quantile(sorted: &[f64], level: f64) -> f64 {
    let place = level * (sorted.len() as f64 - 1.0);
    let (below, share) = (place.floor(), place.fract());
    let low = sorted[below as usize];
    let high = sorted[(below as usize + 1).min(sorted.len() - 1)];
    if share == 0.0 { low } else { low + share * (high - low) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted one by one.
    fn share_within(quantities: &[Vec<f64>], ends: &[(f64, f64)]) -> f64 {
        let draws = quantities[0].len();
        let inside = |draw: &usize| quantities.iter().zip(ends).all(|(q, (l, u))| *l <= q[*draw] && q[*draw] <= *u);
        (0..draws).filter(inside).count() as f64 / draws as f64
    }

    /// The same seed gives the same numbers in every version: whoever pins a seed pins the intervals.
    #[test]
    fn seeds_give_the_draws_that_they_always_gave() {
        use rand_distr::{Distribution, StandardNormal};
        let first = |seed, chunk| -> Vec<f64> { StandardNormal.sample_iter(generator(seed, chunk)).take(3).collect() };
        assert_eq!(first(0, 0), [-0.29280329860470816, -0.7131206168144315, -0.1053211603531886]);
        assert_eq!(first(0, 1), [-0.15032568827904277, 0.4789685247267147, 0.04118181968454831]);
        assert_eq!(first(7, 0), [0.716942927169625, -1.4966927470606513, 1.6376415154187953]);
    }

    #[test]
    fn an_envelope_holds_the_share_asked_for() {
        let mut rng = generator(7, 0);
        let normal = || -> Vec<f64> {
            use rand_distr::{Distribution, StandardNormal};
            StandardNormal.sample_iter(&mut rng).take(1000).collect()
        };
        let independent: Vec<Vec<f64>> = std::iter::repeat_with(normal).take(20).collect();
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
