//! Many draws of the error process: how much what is read off a CDF varies.
//! See docs/methods.md, sections 6.7 and 6.14.

use std::cell::RefCell;
use std::rc::Rc;

use crate::estimate::distribution::Distribution;
use crate::estimate::estimator::Estimator;
use crate::estimate::weight_sums::Bin;
use crate::math::normal;
use crate::math::normals::{SIDE, Side};
use crate::question::settings::Settings;
use crate::uncertainty::drawable::{DrawScratch, Drawable};
use crate::uncertainty::drawn_curves::DrawnCurves;
use crate::uncertainty::normals::Normals;
use crate::uncertainty::process::Process;
use crate::uncertainty::readings::Readings;
use crate::uncertainty::thinning::Thinning;

/// What all draws of a cell share.
#[derive(Debug)]
pub(crate) struct CellDraws<'a> {
    pub(crate) normals: &'a Normals,
    /// The runs of bins that CDFs are drawn on.
    pub(crate) thinning: Thinning,
    /// Those that orders are tested on. A test compares what it finds on them, so that coarser ones would change not only
    /// draws but also what is found.
    pub(crate) of_tests: Thinning,
    /// Draws of the logging policy: they are the same beside every target.
    logging: RefCell<Vec<Kept>>,
}

/// Draws that are kept, by their number and what is read off them.
#[derive(Debug)]
struct Kept {
    draws: usize,
    readings: Readings,
    said: Rc<MemberDraws>,
}

impl<'a> CellDraws<'a> {
    /// For so many draws.
    pub(crate) fn new(normals: &'a Normals, bins: &[Bin], draws: usize) -> Self {
        let (thinning, of_tests) = (Thinning::new(bins, draws), Thinning::fine(bins));
        CellDraws { normals, thinning, of_tests, logging: RefCell::default() }
    }

    /// Draws of the logging policy, by itself: then they are the same to the last bit, whoever asks first.
    fn of_logging(
        &self,
        process: &Process,
        (member, distribution): (usize, &Distribution),
        readings: &Readings,
        settings: &Settings,
    ) -> Rc<MemberDraws> {
        let is_same = |kept: &&Kept| kept.draws == settings.draws && kept.readings == *readings;
        if let Some(kept) = self.logging.borrow().iter().find(is_same) {
            return Rc::clone(&kept.said);
        }
        let alone = process.of_logging(member);
        let said = Rc::new(draw(&alone, (&[0], &[distribution]), readings, settings, self).swap_remove(0));
        let kept = Kept { draws: settings.draws, readings: readings.clone(), said: Rc::clone(&said) };
        self.logging.borrow_mut().push(kept);
        said
    }
}

/// What each draw said of each member.
#[derive(Debug)]
pub(crate) struct Draws {
    members: Vec<Rc<MemberDraws>>,
}

/// What each draw said of one member.
#[derive(Debug)]
pub(crate) struct MemberDraws {
    /// `[draw]`: `sup_v |W(v)|`.
    sup: Vec<f64>,
    /// `[functional][draw]`: what is read off the CDF moved by `W` and repaired.
    values: Vec<Vec<f64>>,
}

/// Blocks of draws that a thread makes at a time.
const CHUNK: usize = 8;

impl Draws {
    /// Draws the errors of some members around their distributions, and reads each draw.
    pub(crate) fn new(
        process: &Process,
        members: &[&Estimator<'_>],
        readings: &Readings,
        settings: &Settings,
        shared: &CellDraws<'_>,
    ) -> Self {
        let targets: Vec<usize> = (0..members.len()).filter(|&m| !members[m].is_logging()).collect();
        let distributions: Vec<&Distribution> = targets.iter().map(|&m| &members[m].distribution).collect();
        let drawn = draw(process, (&targets, &distributions), readings, settings, shared);
        let mut drawn = drawn.into_iter().map(Rc::new);
        let said = |(place, member): (usize, &&Estimator<'_>)| {
            if member.is_logging() {
                return Some(shared.of_logging(process, (place, &member.distribution), readings, settings));
            }
            drawn.next()
        };
        Draws { members: members.iter().enumerate().filter_map(said).collect() }
    }

    /// What each draw said of a functional.
    pub(crate) fn values(&self, member: usize, functional: usize) -> &[f64] {
        &self.members[member].values[functional]
    }

    pub(crate) fn mean(&self, member: usize, functional: usize) -> f64 {
        let values = self.values(member, functional);
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Half the width of the band that holds a member's whole path with this probability.
    pub(crate) fn half_width(&self, member: usize, confidence: f64) -> f64 {
        select_quantile(&mut self.members[member].sup.clone(), confidence)
    }
}

/// Draws the wanted members, whose distributions are given.
fn draw(
    process: &Process,
    (wanted, distributions): (&[usize], &[&Distribution]),
    readings: &Readings,
    settings: &Settings,
    shared: &CellDraws<'_>,
) -> Vec<MemberDraws> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let (normals, thinning) = (shared.normals, &shared.thinning);
    let drawable = Drawable::new(process, thinning);
    let curves: Vec<DrawnCurves<'_>> = wanted
        .iter()
        .zip(distributions)
        .map(|(&member, distribution)| DrawnCurves::new(distribution, thinning, drawable.missed(member), readings))
        .collect();
    let blocks = settings.draws.div_ceil(SIDE);
    let buffers =
        || Buffers { draw: DrawScratch::default(), paths: vec![Vec::new(); wanted.len()], integrals: Vec::new() };
    let parts = in_parallel_with(blocks.div_ceil(CHUNK), settings.threads, buffers, |buffers, chunk| {
        let mut said = Vec::new();
        for block in chunk * CHUNK..blocks.min((chunk + 1) * CHUNK) {
            drawable.draw(normals, block, wanted, &mut buffers.draw, &mut buffers.paths);
            for (curves, path) in curves.iter().zip(&mut buffers.paths) {
                curves.read(path, &mut buffers.integrals, &mut said);
            }
        }
        said
    });
    // Each block says of each member its supremum, and then each reading.
    let (said, of_member) = (parts.concat(), 1 + readings.all().count());
    let column = |member: usize, place: usize| -> Vec<f64> {
        let mut all = Vec::with_capacity(blocks * SIDE);
        for block in said.chunks_exact(wanted.len() * of_member) {
            all.extend_from_slice(block[member * of_member + place].as_flattened());
        }
        all.truncate(settings.draws);
        all
    };
    let said = |member: usize| {
        let values = (1..of_member).map(|place| column(member, place));
        MemberDraws { sup: column(member, 0), values: values.collect() }
    };
    (0..wanted.len()).map(said).collect()
}

struct Buffers {
    draw: DrawScratch,
    paths: Vec<Vec<Side>>,
    integrals: Vec<Side>,
}

/// Runs `work` for each chunk, on some threads, and returns the results in order.
pub(crate) fn in_parallel<T: Send>(chunks: usize, threads: Option<usize>, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    in_parallel_with(chunks, threads, || (), |(), chunk| work(chunk))
}

/// The same with buffers, which each thread makes once.
pub(crate) fn in_parallel_with<B, T: Send>(
    chunks: usize,
    threads: Option<usize>,
    buffers: impl Fn() -> B + Sync,
    work: impl Fn(&mut B, usize) -> T + Sync,
) -> Vec<T> {
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(available).clamp(1, chunks.max(1));
    if threads == 1 {
        let mut own = buffers();
        return (0..chunks).map(|chunk| work(&mut own, chunk)).collect();
    }
    let share = |worker: usize| (worker..chunks).step_by(threads);
    let mut results: Vec<Option<T>> = (0..chunks).map(|_| None).collect();
    std::thread::scope(|scope| {
        let (work, buffers) = (&work, &buffers);
        let run = move |worker: usize| {
            let mut own = buffers();
            share(worker).map(|chunk| (chunk, work(&mut own, chunk))).collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..threads).map(|worker| scope.spawn(move || run(worker))).collect();
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
        sort_ends(&mut order, outside + 1);
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

/// Sorts the first and the last `count` values, between which the others stay as they are, unless values that are tied lie on
/// both sides of a border: then all are sorted. What lies between is deeper than `count`, and an envelope never is: as many
/// draws lie as far out at any one quantity.
fn sort_ends(order: &mut [(f64, usize)], count: usize) {
    let by_value = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0);
    let all = order.len();
    if 3 * count >= all {
        return order.sort_unstable_by(by_value);
    }
    order.select_nth_unstable_by(count, by_value);
    order[count..].select_nth_unstable_by(all - 2 * count - 1, by_value);
    let (first, rest) = order.split_at_mut(count);
    let (middle, last) = rest.split_at_mut(all - 2 * count);
    first.sort_unstable_by(by_value);
    last.sort_unstable_by(by_value);
    let is_tied = |(value, _): &(f64, usize)| *value == first[count - 1].0 || *value == last[0].0;
    if middle.iter().any(is_tied) {
        order.sort_unstable_by(by_value);
    }
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
    use crate::uncertainty::normals::{Stream, Widths};

    /// Counted one by one.
    fn share_within(quantities: &[Vec<f64>], ends: &[(f64, f64)]) -> f64 {
        let draws = quantities[0].len();
        let inside = |draw: &usize| quantities.iter().zip(ends).all(|(q, (l, u))| *l <= q[*draw] && q[*draw] <= *u);
        (0..draws).filter(inside).count() as f64 / draws as f64
    }

    #[test]
    fn quantiles_need_no_sorted_values() {
        let mut scratch = Vec::new();
        let normals = Normals::new(7, Widths { first: 0, later: 0 });
        let rows = normals.block(Stream::Rest, 0, 125, &mut scratch);
        let mut values = rows.as_flattened().as_flattened().to_vec();
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
        let normals = |block: usize| {
            let mut scratch = Vec::new();
            Normals::new(7, Widths { first: 0, later: 0 })
                .block(Stream::Rest, block, 125, &mut scratch)
                .as_flattened()
                .as_flattened()
                .to_vec()
        };
        let independent: Vec<Vec<f64>> = (0..20).map(normals).collect();
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
