//! What many rankers show in each slot.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::plackett_luce::PlackettLuce;
use crate::{Continue, Effort, Error, Tell};

/// What the draws are for: those of logging and of a target never share random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Logging,
    Target,
}

/// The probability of each item in each slot, for several rankers.
#[derive(Debug)]
pub struct RankerMarginals {
    /// In how many parts slates were drawn; 1 if all are exact.
    pub parts: usize,
    /// One part after the other, and in each part one ranker after the other.
    pub values: Vec<f64>,
}

/// The probability of each item in each slot for every row of `scores`, `items` wide.
///
/// Exact for rankers with at most `effort.limit` sets of items. If others have to be drawn, all are given in parts.
///
/// # Errors
/// [`Error::Stopped`] if `tell` says so.
pub fn ranker_marginals(
    scores: &[f64],
    items: usize,
    slots: usize,
    effort: &Effort,
    tell: Tell<'_>,
) -> Result<RankerMarginals, Error> {
    let rankers: Vec<&[f64]> = scores.chunks_exact(items).collect();
    let exact = |scores: &[f64]| PlackettLuce::new(scores, slots).sets() <= effort.limit;
    let parts = if rankers.iter().all(|scores| exact(scores)) { 1 } else { effort.parts };
    let one = |(which, scores): (usize, &&[f64])| {
        let ranker = PlackettLuce::new(scores, slots);
        let found = if ranker.sets() <= effort.limit {
            ranker.marginals().repeat(parts)
        } else {
            drawn_marginals(&draw(&ranker, which, Stream::Target, slots, effort), slots, items, parts)
        };
        match tell(1) {
            Continue::Yes => Ok(found),
            Continue::No => Err(Error::Stopped),
        }
    };
    let each = rankers.par_iter().enumerate().map(one).collect::<Result<Vec<_>, Error>>()?;
    let size = slots * items;
    let part = |part: usize| each.iter().flat_map(move |own| own[part * size..][..size].iter().copied());
    Ok(RankerMarginals { parts, values: (0..parts).flat_map(part).collect() })
}

/// Slates drawn from a ranker: a pure function of the seed, the stream and the ranker's number.
pub(crate) fn draw(ranker: &PlackettLuce, which: usize, stream: Stream, slots: usize, effort: &Effort) -> Vec<u32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(mix(mix(effort.seed) ^ mix(2 * which as u64 + stream as u64)));
    let mut slates = Vec::with_capacity(effort.samples * slots);
    let mut taken = Vec::new();
    (0..effort.samples).for_each(|_| ranker.draw(&mut random, &mut taken, &mut slates));
    slates
}

fn drawn_marginals(slates: &[u32], slots: usize, items: usize, parts: usize) -> Vec<f64> {
    let (size, per_part) = (slots * items, slates.len() / slots / parts);
    let mut found = vec![0.0; parts * size];
    for (part, slates) in slates.chunks_exact(per_part * slots).enumerate() {
        for slate in slates.chunks_exact(slots) {
            slate.iter().enumerate().for_each(|(k, &a)| found[part * size + k * items + a as usize] += 1.0);
        }
    }
    found.iter_mut().for_each(|p| *p /= per_part as f64);
    found
}

/// The finaliser of SplitMix64: every bit of the input moves half the bits of the output.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
