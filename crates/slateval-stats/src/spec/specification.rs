//! What a summary is a summary of.

use std::collections::BTreeMap;

use crate::spec::binning::Binning;
use crate::spec::error::{Error, Result};
use crate::spec::propensity_source::PropensitySource;
use crate::spec::structure::{ORDERS, Structure, TargetSlots};

/// The name of the policy that wrote the log, in every result.
pub const LOGGING: &str = "logging";

/// Targets of one evaluation at most: each takes its share of the memory and of every row's time.
const MOST_POLICIES: usize = 1000;

/// Bins of rewards where each keeps sums for each group of clusters.
const CLUSTERED_BINS: usize = 1024;

/// So many segments have as many bins each as the whole log.
const SEGMENTS_WITH_ALL_BINS: usize = 16;

/// Bins that a segment has in any case, unless fewer are asked for.
const FEWEST_BINS: usize = 64;

/// What to keep of a log: everything that has to be known before the first row is read, and nothing else.
///
/// Two summaries merge exactly if their specifications are equal.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Spec {
    /// Which importance weight.
    pub structure: Structure,
    /// What is known of the targets' slots.
    pub target_slots: TargetSlots,
    /// Where the logging propensities come from.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "PropensitySource::is_known"))]
    pub propensities: PropensitySource,
    /// The target policies, in the order of the results.
    pub policies: Vec<PolicySpec>,
    /// How rewards are binned.
    pub binning: Binning,
    /// The column that rows are segmented by.
    pub by: Option<String>,
    /// The target that the others are compared with, beside the logging policy.
    #[cfg_attr(feature = "serde", serde(default))]
    pub baseline: Option<String>,
    /// The column of clusters, such as users, whose rows are not independent of each other.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cluster: Option<String>,
    /// Whether to keep what tells how strongly each two slots interact.
    #[cfg_attr(feature = "serde", serde(default))]
    pub interactions: bool,
    /// Which columns of the log held what, in words of the reader's own. Summaries of different columns do not merge.
    #[cfg_attr(feature = "serde", serde(default))]
    pub columns: BTreeMap<String, String>,
}

/// A target policy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PolicySpec {
    /// Its name in results.
    pub name: String,
    /// Whether `chi_k` comes with it, which makes the calibrated correction possible.
    pub chi: bool,
}

impl Spec {
    /// Target policies without `chi`, default bins, no segments.
    ///
    /// ```
    /// use slateval_stats::{Spec, Structure};
    /// let spec = Spec::new(Structure::Additive, ["new", "bolder"]).by("country");
    /// assert_eq!(spec.policies.len(), 2);
    /// ```
    pub fn new<N: Into<String>>(structure: Structure, policies: impl IntoIterator<Item = N>) -> Self {
        let policy = |name: N| PolicySpec { name: name.into(), chi: false };
        Spec {
            structure,
            target_slots: TargetSlots::Independent,
            propensities: PropensitySource::Known,
            policies: policies.into_iter().map(policy).collect(),
            binning: Binning::default(),
            by: None,
            baseline: None,
            cluster: None,
            interactions: false,
            columns: BTreeMap::new(),
        }
    }

    /// The same with `chi` for every policy.
    pub fn with_chi(mut self) -> Self {
        self.policies.iter_mut().for_each(|p| p.chi = true);
        self
    }

    /// The same with other bins.
    pub fn with_binning(mut self, binning: Binning) -> Self {
        self.binning = binning;
        self
    }

    /// The same, segmented by a column.
    pub fn by(mut self, column: impl Into<String>) -> Self {
        self.by = Some(column.into());
        self
    }

    /// The same with rows in clusters, by a column.
    pub fn clustered(mut self, column: impl Into<String>) -> Self {
        self.cluster = Some(column.into());
        self
    }

    /// The same, with targets compared with this one beside the logging policy.
    pub fn with_baseline(mut self, policy: impl Into<String>) -> Self {
        self.baseline = Some(policy.into());
        self
    }

    /// The bins in use: fewer where each has sums for each group of clusters.
    pub fn cell_binning(&self) -> Binning {
        let most = if self.cluster.is_some() { CLUSTERED_BINS } else { usize::MAX };
        Binning { capacity: self.binning.capacity.min(most), ..self.binning }
    }

    /// The bins of each segment, where there are so many segments: all of them together have at most
    /// `SEGMENTS_WITH_ALL_BINS` times as many as the whole log, so that memory does not grow with segments.
    pub fn segment_binning(&self, segments: usize) -> Binning {
        let mut whole = self.cell_binning();
        if self.cluster.is_some() {
            whole.capacity = whole.capacity.min(CLUSTERED_BINS / 4);
        }
        let shared = (SEGMENTS_WITH_ALL_BINS * whole.capacity / segments.next_power_of_two()).max(FEWEST_BINS);
        Binning { capacity: shared.min(whole.capacity), ..whole }
    }

    /// How many functions of the slot ratios weights are made of: one for each order where the order is chosen from the
    /// data. Orders are not told apart for targets whose slots depend on each other.
    pub(crate) fn basis(&self) -> usize {
        match (&self.structure, self.target_slots) {
            (Structure::Auto, TargetSlots::Independent) => ORDERS,
            _ => 1,
        }
    }

    /// How many groups clusters are hashed into, to bound the memory. 0 without clusters.
    pub fn groups(&self) -> u16 {
        if self.cluster.is_some() { 512 } else { 0 }
    }

    /// How many groups each segment keeps: fewer, of which each stands for several of the whole log's.
    pub(crate) fn segment_groups(&self) -> u16 {
        self.groups() / 8
    }

    /// Refuses what no summary can be made of.
    pub fn check(&self) -> Result<()> {
        let bad =
            |setting, value: &str, why: &str| Err(Error::BadSetting { setting, value: value.into(), why: why.into() });
        if self.policies.is_empty() {
            return bad("target", "(none)", "give at least one target policy");
        }
        if self.policies.len() > MOST_POLICIES {
            let why = format!("at most {MOST_POLICIES} target policies are evaluated at a time");
            return bad("target", &format!("{} of them", self.policies.len()), &why);
        }
        for (i, policy) in self.policies.iter().enumerate() {
            if policy.name == LOGGING {
                return bad("target", LOGGING, "the name is reserved for the policy that wrote the log");
            }
            if policy.name.is_empty() {
                return bad("target", "", "a target needs a name");
            }
            if self.policies[..i].iter().any(|p| p.name == policy.name) {
                return bad("target", &policy.name, "two targets have this name");
            }
        }
        if let Some(baseline) = self.baseline.as_ref().filter(|b| self.policies.iter().all(|p| p.name != **b)) {
            return bad("baseline", baseline, &format!("must be one of the targets: {}", self.policy_list()));
        }
        self.structure.check(self.target_slots)?;
        self.binning.check()
    }

    /// What differs between two specifications, in words.
    pub fn differences(&self, other: &Spec) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |same: bool, what: &str, a: String, b: String| {
            if !same {
                found.push(format!("{what}: {a} against {b}"));
            }
        };
        let text = |s: &Spec| (s.structure.to_string(), s.target_slots.to_string(), s.binning.to_string());
        let ((structure, slots, bins), (other_structure, other_slots, other_bins)) = (text(self), text(other));
        compare(self.structure == other.structure, "structure", structure, other_structure);
        compare(self.target_slots == other.target_slots, "target slots", slots, other_slots);
        let source = |s: &Spec| s.propensities.to_string();
        compare(self.propensities == other.propensities, "propensities", source(self), source(other));
        compare(self.policies == other.policies, "policies", self.policy_list(), other.policy_list());
        compare(self.binning == other.binning, "bins", bins, other_bins);
        let by = |s: &Spec| s.by.as_deref().map_or("no segments".to_owned(), |c| format!("segments by `{c}`"));
        compare(self.by == other.by, "segments", by(self), by(other));
        let name = |of: &Option<String>| of.as_deref().map_or("none".to_owned(), |c| format!("`{c}`"));
        compare(self.baseline == other.baseline, "baseline", name(&self.baseline), name(&other.baseline));
        compare(self.cluster == other.cluster, "clusters", name(&self.cluster), name(&other.cluster));
        let kept = |s: &Spec| if s.interactions { "kept" } else { "not kept" }.to_owned();
        compare(self.interactions == other.interactions, "interactions", kept(self), kept(other));
        let list = |s: &Spec| s.columns.iter().map(|(what, c)| format!("{what} `{c}`")).collect::<Vec<_>>().join(", ");
        compare(self.columns == other.columns, "columns", list(self), list(other));
        found
    }

    fn policy_list(&self) -> String {
        let names = self.policies.iter().map(|p| format!("`{}`{}", p.name, if p.chi { " (with chi)" } else { "" }));
        names.collect::<Vec<_>>().join(", ")
    }
}
