//! Policies: what is played in each slot, given what the world prefers there.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// How a policy fills the slots of a slate.
///
/// The first four fill them independently of each other, repeats allowed; the rankings show no item twice.
///
/// ```
/// use slateval_sim::Policy;
/// for name in ["uniform", "deterministic", "epsilon-greedy:0.01", "softmax:3", "ranking", "plackett-luce:-2"] {
///     assert_eq!(name.parse::<Policy>()?.to_string(), name);
/// }
/// # Ok::<(), slateval_sim::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Policy {
    /// Every item is as likely as any other.
    Uniform,
    /// Always the favourite.
    Deterministic,
    /// Every item but the favourite has this probability.
    EpsilonGreedy {
        /// At most `1/N`.
        epsilon: f64,
    },
    /// An item's probability is proportional to `exp(scale * score)`.
    Softmax {
        /// Negative to prefer low scores.
        scale: f64,
    },
    /// All slates without repeats are equally likely.
    Ranking,
    /// Slot by slot, an item not shown yet with probability proportional to `exp(scale * score)`.
    PlackettLuce {
        /// Negative to prefer low scores.
        scale: f64,
    },
    /// [`Ranking`](Policy::Ranking), but the log gives propensities conditional on the slots before, `1/N, 1/(N-1), …`:
    /// a common mistake, for they are not what slot ratios need. Ratios to a factored target then average less than 1.
    Mismatch,
}

impl Policy {
    /// Whether slots are filled independently given the context.
    pub fn is_factored(self) -> bool {
        !matches!(self, Policy::Ranking | Policy::PlackettLuce { .. } | Policy::Mismatch)
    }

    /// Whether it does the same whatever is preferred.
    pub(crate) fn ignores_context(self) -> bool {
        matches!(self, Policy::Uniform | Policy::Ranking | Policy::Mismatch)
    }

    /// Refuses a policy that slates of `slots` out of `items` cannot have.
    pub(crate) fn check(self, slots: usize, items: usize) -> Result<()> {
        match self {
            Policy::EpsilonGreedy { epsilon } if epsilon * items as f64 > 1.0 + 1e-12 => {
                let most = 1.0 / items as f64;
                Err(Error::setting("policy", self, format!("with {items} items epsilon is at most {most:.6}")))
            }
            _ if !self.is_factored() && slots > items => {
                Err(Error::setting("policy", self, format!("{slots} slots cannot be filled from {items} items")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a policy that cannot have written a log anybody can evaluate.
    pub(crate) fn check_logging(self) -> Result<()> {
        match self {
            Policy::Deterministic => {
                Err(Error::setting("logging", self, "says nothing about items it never shows; use one that explores"))
            }
            Policy::EpsilonGreedy { epsilon } if epsilon <= 0.0 => {
                Err(Error::setting("logging", self, "epsilon must be positive, or most items are never shown"))
            }
            Policy::PlackettLuce { .. } => {
                Err(Error::setting("logging", self, "no weight is known for it; use ranking, uniform or softmax"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Uniform => write!(f, "uniform"),
            Policy::Deterministic => write!(f, "deterministic"),
            Policy::EpsilonGreedy { epsilon } => write!(f, "epsilon-greedy:{epsilon}"),
            Policy::Softmax { scale } => write!(f, "softmax:{scale}"),
            Policy::Ranking => write!(f, "ranking"),
            Policy::PlackettLuce { scale } => write!(f, "plackett-luce:{scale}"),
            Policy::Mismatch => write!(f, "mismatch"),
        }
    }
}

impl FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why: &str| Error::setting("policy", text, why);
        let (name, argument) = text.split_once(':').map_or((text, None), |(name, argument)| (name, Some(argument)));
        let number =
            |why: &str| argument.and_then(|x| x.parse::<f64>().ok()).filter(|x| x.is_finite()).ok_or_else(|| bad(why));
        match (name, argument) {
            ("uniform", None) => Ok(Policy::Uniform),
            ("deterministic", None) => Ok(Policy::Deterministic),
            ("ranking", None) => Ok(Policy::Ranking),
            ("mismatch", None) => Ok(Policy::Mismatch),
            ("epsilon-greedy", _) => {
                let why = "needs a probability in [0, 1], for example epsilon-greedy:0.01";
                match number(why)? {
                    epsilon if (0.0..=1.0).contains(&epsilon) => Ok(Policy::EpsilonGreedy { epsilon }),
                    _ => Err(bad(why)),
                }
            }
            ("softmax", _) => Ok(Policy::Softmax { scale: number("needs a scale, for example softmax:3")? }),
            ("plackett-luce", _) => {
                Ok(Policy::PlackettLuce { scale: number("needs a scale, for example plackett-luce:3")? })
            }
            _ => Err(bad(
                "must be uniform, deterministic, epsilon-greedy:EPSILON, softmax:SCALE, ranking, plackett-luce:SCALE \
                 or, for logging only, mismatch",
            )),
        }
    }
}
