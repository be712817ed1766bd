//! The normals that draws are made of. All policies, tests and segments of an evaluation use the same ones.
//! See docs/methods.md, section 6.7.

use crate::math::normals;

/// Sequences of normals that are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// What errors of bins, or of groups of clusters, are made of: one for each policy that is drawn together.
    Steps(usize),
    /// What they leave of other errors.
    Rest,
}

/// The first normals of a draw.
pub(crate) fn normals(seed: u64, stream: Stream, draw: usize, count: usize) -> Vec<f64> {
    let stream = match stream {
        Stream::Rest => 0,
        Stream::Steps(place) => place as u64 + 1,
    };
    normals::normals(normals::key(seed, stream, draw as u64), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same seed gives the same numbers in every version, so that results with a seed can be repeated.
    #[test]
    fn seeds_give_the_draws_that_they_always_gave() {
        let found =
            [normals(0, Stream::Steps(0), 6, 3), normals(0, Stream::Steps(1), 806, 3), normals(7, Stream::Rest, 6, 3)];
        let pinned = [
            [-0.2836135980489291, 0.5660173765126681, 1.6454928944783371],
            [-0.2908675523208564, -1.5419199615496892, -0.4411474107745741],
            [-0.8892481154098731, -0.764136730008426, -1.6751114687539985],
        ];
        assert_eq!(found, pinned);
    }
}
