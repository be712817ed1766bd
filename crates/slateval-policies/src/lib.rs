//! Weights for logging policies whose slots depend on each other, such as rankers that show no item twice.
//!
//! With `Gamma(x) = E_mu[1_A 1_A' | x]`, where `1_A` marks which item stands in which slot, and `q(x) = E_pi[1_A | x]`,
//! the additive weight for any logging policy is `G = q' pinv(Gamma) 1_A` (Swaminathan et al., "Off-policy evaluation
//! for slate recommendation", 2017).
//!
//! | step | module |
//! |---|---|
//! | `Gamma` of a Plackett–Luce ranker, exactly: one walk over sets of items, not over slates | [`PlackettLuce`] |
//! | `Gamma` of slates that were listed or drawn | [`Moments`] |
//! | `pinv(Gamma)` by a QR decomposition with pivots | [`Inverse`] |
//! | the weights of all rows of a log, in parallel | [`weigh`] |
//!
//! ```
//! use slateval_policies::{Inverse, PlackettLuce};
//!
//! // Two of three items, all rankings equally likely; the target always shows (0, 1).
//! let ranker = PlackettLuce::new(&[0.0, 0.0, 0.0], 2);
//! let inverse = Inverse::new(&ranker.moments());
//! let solved = inverse.solve(&[1.0, 0.0, 0.0, /* slot 2 */ 0.0, 1.0, 0.0]);
//! let weight = |slate: [usize; 2]| solved.effects[slate[0]] + solved.effects[3 + slate[1]];
//! assert!((weight([0, 1]) - 5.0).abs() < 1e-9);
//! assert!((weight([1, 2]) + 1.0).abs() < 1e-9);
//! ```

mod inverse;
mod moments;
mod plackett_luce;
mod ranker_marginals;
mod sets;
mod uniform;
mod weigh;

pub use inverse::{Inverse, Solved};
pub use moments::Moments;
pub use plackett_luce::PlackettLuce;
pub use ranker_marginals::{RankerMarginals, ranker_marginals};
pub use weigh::{Goals, Logging, Shown, Weights, weigh};

/// How much to spend on rankers with many sets of items.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The most sets of items to walk through; beyond, slates are drawn.
    pub limit: f64,
    /// How many slates are drawn.
    pub samples: usize,
    /// In how many parts they are drawn; each is left out once for the standard error.
    pub parts: usize,
    /// Where the draws begin.
    pub seed: u64,
}

/// What is told of the rows that are done; it answers whether to go on.
pub type Tell<'a> = &'a (dyn Fn(u64) -> Continue + Sync);

/// Whether to go on with the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    /// Go on.
    Yes,
    /// Nobody waits for the result any more.
    No,
}

/// Why there are no weights.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The work was told to stop.
    #[error("stopped")]
    Stopped,
    /// A row's slate has an item in a slot where logging never shows it.
    #[error("row {}: logging never shows this slate", row + 1)]
    NeverShown {
        /// The row, from 0.
        row: usize,
    },
    /// No slates that were drawn from logging tell of a row's slate.
    #[error("row {}: no slates drawn from logging tell of this slate", row + 1)]
    NotDrawn {
        /// The row, from 0.
        row: usize,
    },
    /// Arrays that do not fit together.
    #[error("{0} does not have the size that the others ask for")]
    Size(&'static str),
}
