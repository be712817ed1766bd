//! The whole reward distribution of a new slate policy, from logs of the deployed one.
//!
//! A recommender fills `K` slots at once and sees one reward `R` for the whole slate. This crate estimates, from logged
//! slates, what distribution `R` would have under another policy, as in *Distributional Off-Policy Evaluation for Slate
//! Recommendations* (SUnO, AAAI-24), and beyond it. It does no I/O; everything goes one road:
//!
//! ```text
//! rows ──> weights ──> Summary ──> distribution ──> Evaluation
//! Block    Structure   add, merge  Correction       mean, variance, quantiles, VaR, CVaR, CDF, checks
//! ```
//!
//! **Rows** come in a [`Block`]: reward, logging propensities `mu_k` and target propensities `pi_k` of the shown actions.
//!
//! **Weights.** With slot ratios `Y_k = pi_k / mu_k`, a [`Structure`] says which weight `G` makes
//! `F(v) = E[G 1{R <= v}]` the target's CDF: `1 + sum_k (Y_k - 1)` if the CDF is additive over slots, `prod_k Y_k` if
//! nothing is assumed, and unbiased weights for everything between.
//!
//! **The [`Summary`]** keeps sums of fixed size, whatever the number of rows. Summaries merge: of threads, files, days or
//! machines, in any order.
//!
//! **The distribution.** A [`Correction`] turns the weights into less noisy ones that sum to 1. The raw CDF may fall or
//! leave [0, 1], for weights may be negative; rearranged, it is a CDF, and no further from the truth.
//!
//! **The [`Evaluation`]** has one distribution per policy, differences to the logging policy, segments, and
//! [`Diagnostics`]: what the numbers rest on.
//!
//! ```
//! use slateval::{Block, Field, Settings, Spec, Structure, Summary};
//!
//! // A log of one block: two slots of two actions, shown equally often. The reward counts the good ones.
//! let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"]))?;
//! let mut block = Block::new(summary.spec());
//! block.reset(4, 2);
//! block.column_mut(Field::Reward).copy_from_slice(&[0.0, 1.0, 1.0, 2.0]);
//! for (slot, good) in [(0, [false, true, false, true]), (1, [false, false, true, true])] {
//!     block.column_mut(Field::Logging { slot }).fill(0.5);
//!     let pi = good.map(|good| if good { 0.9 } else { 0.1 });
//!     block.column_mut(Field::Target { policy: 0, slot }).copy_from_slice(&pi);
//! }
//! summary.add(&block)?;
//!
//! let evaluation = summary.evaluate(&Settings::default())?;
//! let [logging, new] = &evaluation.policies[..] else { unreachable!("one target was asked for") };
//! assert_eq!(logging.mean.estimate, Some(1.0));
//! assert!((new.mean.estimate.unwrap_or(0.0) - 1.8).abs() < 1e-12);
//! # Ok::<(), slateval::Error>(())
//! ```
//!
//! # Errors and panics
//!
//! | call | bad data or settings | misuse by the program |
//! |---|---|---|
//! | [`Summary::new`], [`Summary::merge`], [`Summary::evaluate`], [`Summary::combination`] | `Err` | – |
//! | [`Summary::add`] | `Err` | panic: a block made for another specification |
//! | [`Summary::from_bytes`] | `Err` | – |
//! | [`Block::reset`], [`Block::column_mut`] | – | panic: too many rows, no such column |
//! | [`Structure::weights`] | – | panic: columns of different lengths, no function of slot ratios |

mod answer;
mod checks;
mod estimate;
mod evaluate;
mod math;
mod order;
mod question;
mod rows;
mod slates;
mod summary;
mod uncertainty;

pub use answer::check::{Check, Status};
pub use answer::comparison::{Comparison, Disparity, Dominance};
pub use answer::diagnostics::WeightHistogram;
pub use answer::diagnostics::{DesignSource, Diagnostics};
pub use answer::evaluation::{Evaluation, LogFacts, PolicyEvaluation, RewardFacts, SegmentEvaluation};
pub use answer::interval::{Bounds, Cdf, CdfBand, Interval, QuantileEstimate, TailEstimate};
pub use answer::selection::{FunctionalTest, Interaction, OrderTest, Selection};
pub use evaluate::combination::{Combination, Combined, FailedCheck, Metric, Term, Worth};
pub use evaluate::profile::{ComparisonProfile, PolicyProfile, Profile};
pub use question::binning::{Binning, Scale};
pub use question::correction::{Correction, CorrectionChoice};
pub use question::error::{Error, Result};
pub use question::field::Field;
pub use question::segment::Segment;
pub use question::settings::{Band, Settings};
pub use question::spec::{LOGGING, PolicySpec, Spec};
pub use question::structure::{Family, Needs, Pool, Structure, TargetSlots};
pub use question::tail::Tail;
pub use rows::block::Block;
pub use rows::slate::Slate;
pub use rows::weights::ranking_weight;
pub use slates::Slates;
pub use slates::slots::Slots;
pub use summary::Summary;
