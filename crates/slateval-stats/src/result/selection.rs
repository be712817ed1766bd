//! How the order of the weights was chosen, and what the slots of a log say about each other.

use crate::result::reason::Effects;
use crate::result::trust::Trusts;

/// How the order of the weights was chosen from the data.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Selection {
    /// What was found out about each order from 2 on.
    pub orders: Vec<OrderTest>,
    /// The order used for the CDF and what is read off it.
    pub cdf: usize,
    /// The order used for the mean.
    pub mean: usize,
    /// The order used for variance and standard deviation: that of the squared reward, which is seldom the mean's.
    pub variance: usize,
    /// The order that the CDF's band is centred at: one more than its estimate's, where the log can carry it.
    pub band: Option<usize>,
    /// Why. JSON of this crate has no sentences, and leaves it out.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub reason: SelectionReason,
}

/// Why an order was chosen, and what vouches for it.
///
/// `slateval-text` puts it into words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SelectionReason {
    /// The order of the CDF.
    pub cdf: usize,
    /// The order of the mean.
    pub mean: usize,
    /// The order of the variance.
    pub variance: usize,
    /// Slots of the longest slate.
    pub slots: usize,
    /// Slots that the target changes at most in a slate: from this order on, all weights are the same.
    pub distinct: usize,
    /// What may be said of intervals at these orders.
    pub trusts: Trusts,
    /// The test of the order next above that of the CDF.
    pub next: Option<OrderTest>,
    /// Orders further up that do not show, though the log is too thin to rely on that.
    pub thin: Vec<usize>,
    /// Effects of more slots than this could not be tested.
    pub untested_above: Option<usize>,
}

/// Whether effects of exactly this many slots show in the log.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct OrderTest {
    /// How many slots.
    pub order: usize,
    /// Whether effects of more slots are meant as well.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::result::interval::is_false"))]
    pub and_above: bool,
    /// `sup_v |mean[H (1{R <= v} - p(v))]|` with `H = e_order(Z)` and `p` the logged CDF.
    pub statistic: f64,
    /// What it has to exceed.
    pub critical: f64,
    /// Whether it does.
    pub active: bool,
    /// Effective sample size of weights up to this order.
    pub design_ess: Option<f64>,
    /// The same for the mean: `|mean[H (R - mean R)]|`.
    pub mean: FunctionalTest,
    /// The same for the second moment: `|mean[H ((R - mean R)^2 - var R)]|`.
    pub variance: FunctionalTest,
}

/// One test of one order.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct FunctionalTest {
    /// The statistic.
    pub statistic: f64,
    /// What it has to exceed.
    pub critical: f64,
    /// Whether it does.
    pub active: bool,
}

/// How strongly two slots' effects on the reward depend on each other.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Interaction {
    /// The policy whose change of slots it is.
    pub policy: String,
    /// The two slots, counted from 1.
    pub slots: [usize; 2],
    /// `sup_v |mean[Z_j Z_k (1{R <= v} - p(v))]|`: how far the pair moves the CDF.
    pub strength: f64,
    /// What it has to exceed to be told from noise, all pairs considered.
    pub critical: f64,
    /// Whether it does.
    pub active: bool,
}

impl OrderTest {
    /// The effects that are tested.
    pub fn effects(&self) -> Effects {
        Effects { slots: self.order, and_above: self.and_above }
    }
}
