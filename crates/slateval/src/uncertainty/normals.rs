//! The normals that all draws of an evaluation are made of: made once, and shared by all policies, tests and segments.
//! See docs/methods.md, section 6.7.

use std::sync::OnceLock;

use crate::math::normals::{SIDE, Side, fill, key};
use crate::uncertainty::thinning::FEW_DRAWS;

/// Sequences of normals that are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// What errors of bins, or of groups of clusters, are made of: one for each policy that is drawn together.
    Steps(usize),
    /// What they leave of other errors.
    Rest,
}

impl Stream {
    fn place(self) -> usize {
        match self {
            Stream::Rest => 0,
            Stream::Steps(place) => place + 1,
        }
    }
}

/// Normals by stream, draw and place. They follow from the seed alone, and not from who asks for which first.
#[derive(Debug)]
pub(crate) struct Normals {
    seed: u64,
    /// Places of each draw that are kept.
    widths: Widths,
    /// `[stream][block of draws]`.
    kept: [Vec<OnceLock<Vec<Side>>>; KEPT_STREAMS],
}

/// Places of each draw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widths {
    /// Of the first draws, which segments make too.
    pub(crate) first: usize,
    /// Of all others.
    pub(crate) later: usize,
}

/// Streams that are kept: the rest, and the steps of a policy and of another beside it.
const KEPT_STREAMS: usize = 3;

/// Places of the rest that are kept: one for each adjustment of both, for slates of some ten slots.
const REST: usize = 24;

/// Blocks of draws that are kept: as many as are drawn unless more are asked for. Those of some 300 runs of bins take 10
/// megabytes.
const KEPT_BLOCKS: usize = 2048 / SIDE;

/// Blocks of draws that segments make too.
const FIRST_BLOCKS: usize = FEW_DRAWS.div_ceil(SIDE);

/// Places that are kept at most.
const WIDEST: usize = 1024;

impl Normals {
    /// `widths` are what draws will ask for; they may be wrong, at the expense of time.
    pub(crate) fn new(seed: u64, widths: Widths) -> Self {
        let none = |_| (0..KEPT_BLOCKS).map(|_| OnceLock::new()).collect();
        Normals { seed, widths, kept: std::array::from_fn(none) }
    }

    /// Places of a block that are kept.
    fn width(&self, stream: Stream, block: usize) -> usize {
        match stream {
            Stream::Rest => REST,
            Stream::Steps(_) if block < FIRST_BLOCKS => self.widths.first.min(WIDEST),
            Stream::Steps(_) => self.widths.later.min(WIDEST),
        }
    }

    /// The normals of a block of draws at the first few places, made in `scratch` if they are not kept.
    pub(crate) fn block<'s>(
        &'s self,
        stream: Stream,
        block: usize,
        places: usize,
        scratch: &'s mut Vec<Side>,
    ) -> &'s [Side] {
        let width = self.width(stream, block);
        let kept = self.kept.get(stream.place()).and_then(|blocks| blocks.get(block)).filter(|_| places <= width);
        if let Some(kept) = kept {
            let make = || {
                let mut rows = Vec::new();
                self.make(stream, block, width, &mut rows);
                rows
            };
            return &kept.get_or_init(make)[..places];
        }
        self.make(stream, block, places, scratch);
        scratch
    }

    fn make(&self, stream: Stream, block: usize, places: usize, rows: &mut Vec<Side>) {
        let draw = |d: usize| (block * SIDE + d) as u64;
        rows.resize(places, Side::default());
        fill(&std::array::from_fn(|d| key(self.seed, stream.place() as u64, draw(d))), rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same seed gives the same numbers in every version: whoever pins a seed pins the intervals.
    #[test]
    fn seeds_give_the_draws_that_they_always_gave() {
        let first = |seed, stream, block| -> Vec<f64> {
            let mut scratch = Vec::new();
            let rows = Normals::new(seed, Widths { first: 3, later: 3 }).block(stream, block, 3, &mut scratch).to_vec();
            rows.iter().map(|row| row.as_flattened()[6]).collect()
        };
        let found = [first(0, Stream::Steps(0), 0), first(0, Stream::Steps(1), 100), first(7, Stream::Rest, 0)];
        let pinned = [
            [-0.2836135980489291, 0.5660173765126681, 1.6454928944783371],
            [-0.2908675523208564, -1.5419199615496892, -0.4411474107745741],
            [-0.8892481154098731, -0.764136730008426, -1.6751114687539985],
        ];
        assert_eq!(found, pinned);
    }

    #[test]
    fn what_is_kept_is_what_would_be_made() {
        let of = |first: usize| Normals::new(4, Widths { first, later: first + 3 });
        let (narrow, wide) = (of(5), of(50));
        for block in [0, FIRST_BLOCKS, KEPT_BLOCKS - 1, KEPT_BLOCKS] {
            for stream in [Stream::Steps(0), Stream::Steps(1), Stream::Steps(2), Stream::Rest] {
                let (mut a, mut b) = (Vec::new(), Vec::new());
                assert_eq!(narrow.block(stream, block, 21, &mut a), &wide.block(stream, block, 40, &mut b)[..21]);
            }
        }
    }
}
