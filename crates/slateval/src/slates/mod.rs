//! The front door: logged slates in memory, of any number.

pub(crate) mod columns;
pub(crate) mod labels;
pub(crate) mod slots;

use slateval_accumulate::Accumulator;
use slateval_stats::{
    Binning, Error, Evaluation, PropensitySource, Result, Segment, Settings, Spec, Structure, Sums, TargetSlots,
};

use crate::slates::columns::Columns;
use crate::slates::labels::Labels;
use crate::slates::slots::Slots;
use crate::summary::Summary;

/// Logged slates in memory: say what is where, then [`evaluate`](Slates::evaluate).
///
/// Propensities are slices of numbers, slate after slate, or any other [`Slots`]. Structure and bins are the command
/// line's defaults: structure auto, 4096 bins.
///
/// ```
/// use slateval::{Settings, Slates};
///
/// // Four slates of two slots. Each slot shows one of two actions, with equal probability.
/// let reward = [0.0, 1.0, 1.0, 2.0];
/// let mu = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
/// let pi = [0.1, 0.1, 0.9, 0.1, 0.1, 0.9, 0.9, 0.9];
/// let device = ["phone", "phone", "desktop", "desktop"];
/// let evaluation = Slates::new(&reward)
///     .logging(&mu)
///     .target("new", &pi)
///     .by("device", device)
///     .evaluate(&Settings::default().with_draws(100))?;
///
/// assert_eq!(evaluation.log.slots, Some(2));
/// assert_eq!(evaluation.segments.len(), 2);
/// # Ok::<(), slateval::Error>(())
/// ```
///
/// | slates | how to say it |
/// |---|---|
/// | of different lengths | NaN for a missing slot, in the logging propensities and in those of every target; or a `Vec` for each slate |
/// | with `chi` | [`chi`](Slates::chi), for each target that has it |
/// | of segments, of clusters | [`by`](Slates::by), [`cluster`](Slates::cluster) |
/// | drawn without replacement | [`structure`](Slates::structure) ranking, [`anywhere`](Slates::anywhere), perhaps [`pool`](Slates::pool) |
/// | with weights of your own | [`structure`](Slates::structure) given, [`weight`](Slates::weight) |
/// | too many for memory | [`add_to`](Slates::add_to) a summary, chunk by chunk |
///
/// What the structure does not need is not looked at: ranking has no use for logging propensities, given none for slots.
///
/// # Errors
/// All methods that return a `Result` refuse lengths that do not fit together ([`Error::BadShape`]), names that are not
/// those of targets ([`Error::BadSetting`]), slots missing for some policies only ([`Error::HalfMissing`]) and values that
/// no reward or probability can have ([`Error::BadValue`]). Rows of errors count from 0 over all the data, like the
/// slices; slots count from 1 in messages.
#[derive(Debug, Clone)]
pub struct Slates<'a> {
    pub(crate) reward: &'a [f64],
    pub(crate) logging: Option<Slots<'a>>,
    pub(crate) targets: Vec<(String, Slots<'a>)>,
    pub(crate) chi: Vec<(String, Slots<'a>)>,
    pub(crate) anywhere: Vec<(String, Slots<'a>)>,
    pub(crate) weights: Vec<(String, &'a [f64])>,
    pub(crate) pool: Option<&'a [f64]>,
    pub(crate) by: Option<(String, Labels)>,
    pub(crate) cluster: Option<(String, Labels)>,
    structure: Option<Structure>,
    target_slots: Option<TargetSlots>,
    propensities: Option<PropensitySource>,
    binning: Option<Binning>,
    baseline: Option<String>,
}

impl<'a> Slates<'a> {
    /// Slates with these rewards.
    pub fn new(reward: &'a [f64]) -> Self {
        Slates {
            reward,
            logging: None,
            targets: Vec::new(),
            chi: Vec::new(),
            anywhere: Vec::new(),
            weights: Vec::new(),
            pool: None,
            by: None,
            cluster: None,
            structure: None,
            target_slots: None,
            propensities: None,
            binning: None,
            baseline: None,
        }
    }

    /// `mu_k`: the logging propensity of the action shown in each slot.
    pub fn logging(mut self, mu: impl Into<Slots<'a>>) -> Self {
        self.logging = Some(mu.into());
        self
    }

    /// A target policy and its propensities `pi_k` of the same actions. Several targets have several calls.
    pub fn target(mut self, name: impl Into<String>, pi: impl Into<Slots<'a>>) -> Self {
        self.targets.push((name.into(), pi.into()));
        self
    }

    /// `chi_k = sum_a pi_k(a)^2 / mu_k(a) - 1` of a target, which makes its estimates less noisy.
    pub fn chi(mut self, target: impl Into<String>, chi: impl Into<Slots<'a>>) -> Self {
        self.chi.push((target.into(), chi.into()));
        self
    }

    /// A target's probability of showing the item of a slot anywhere in its slate, for structure ranking.
    pub fn anywhere(mut self, target: impl Into<String>, anywhere: impl Into<Slots<'a>>) -> Self {
        self.anywhere.push((target.into(), anywhere.into()));
        self
    }

    /// How many items each slate was drawn from, for structure ranking with [`Pool::Column`](crate::Pool::Column).
    pub fn pool(mut self, items: &'a [f64]) -> Self {
        self.pool = Some(items);
        self
    }

    /// Ready-made weights of a target, for structure given. There, it need not be called with [`target`](Self::target).
    pub fn weight(mut self, target: impl Into<String>, weight: &'a [f64]) -> Self {
        self.weights.push((target.into(), weight));
        self
    }

    /// The segment of each slate: texts, whole numbers, truth values, options of them, or [`Segment`]s.
    pub fn by<S: Into<Segment>>(mut self, column: impl Into<String>, values: impl IntoIterator<Item = S>) -> Self {
        self.by = Some((column.into(), Labels::new(values)));
        self
    }

    /// The cluster of each slate, such as its user: slates of one cluster are not taken to be independent.
    pub fn cluster<S: Into<Segment>>(mut self, column: impl Into<String>, values: impl IntoIterator<Item = S>) -> Self {
        self.cluster = Some((column.into(), Labels::new(values)));
        self
    }

    /// Which importance weight; auto if this is not called.
    pub fn structure(mut self, structure: Structure) -> Self {
        self.structure = Some(structure);
        self
    }

    /// What is known of the targets' slots; that they are independent if this is not called.
    pub fn target_slots(mut self, slots: TargetSlots) -> Self {
        self.target_slots = Some(slots);
        self
    }

    /// Where the logging propensities come from; that they are known if this is not called.
    pub fn propensities(mut self, source: PropensitySource) -> Self {
        self.propensities = Some(source);
        self
    }

    /// How rewards are binned once there are too many distinct ones.
    pub fn binning(mut self, binning: Binning) -> Self {
        self.binning = Some(binning);
        self
    }

    /// The target that the others are compared with, beside the logging policy.
    pub fn baseline(mut self, target: impl Into<String>) -> Self {
        self.baseline = Some(target.into());
        self
    }

    /// The reward distribution of every policy, with what it rests on.
    ///
    /// # Errors
    /// As for [`Slates`], and as [`Summary::evaluate`].
    pub fn evaluate(&self, settings: &Settings) -> Result<Evaluation> {
        settings.check_for(&self.spec(None))?;
        self.summary()?.evaluate(settings)
    }

    /// A summary of these slates: to save, to merge, or to evaluate more than once.
    ///
    /// # Errors
    /// As for [`Slates`], and as [`Summary::new`].
    pub fn summary(&self) -> Result<Summary> {
        Ok(Summary::from(self.sums(&self.spec(None))?))
    }

    /// Adds these slates to a summary, or none of them.
    ///
    /// Chunks of any sizes give what one pass over all slates gives, but for rounding. What is not said here, such as the
    /// structure, is the summary's; what is said must be the same.
    ///
    /// # Errors
    /// As for [`Slates`], [`Error::Mismatch`] if the summary is of something else, and [`Error::TooManySegments`]. The
    /// summary is then as it was.
    ///
    /// ```
    /// use slateval::{Slates, Spec, Structure, Summary};
    ///
    /// let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"]))?;
    /// for day in [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]] {
    ///     Slates::new(&day).logging(&[0.5, 0.5, 0.5]).target("new", &[0.9, 0.1, 0.9]).add_to(&mut summary)?;
    /// }
    /// assert_eq!(summary.rows(), 6);
    /// # Ok::<(), slateval::Error>(())
    /// ```
    pub fn add_to(&self, summary: &mut Summary) -> Result<()> {
        let spec = self.spec(Some(summary.spec()));
        let differences = spec.differences(summary.spec());
        if !differences.is_empty() {
            return Err(Error::Mismatch(differences));
        }
        summary.add_sums(self.sums(&spec)?)
    }

    fn sums(&self, spec: &Spec) -> Result<Sums> {
        let mut rows = Accumulator::new(spec.clone())?;
        let columns = Columns::new(self, spec)?;
        columns.each_block(spec, |block| rows.add(block))?;
        Ok(rows.finish())
    }

    /// What these slates are to be summed up as: as far as nothing was said, like a summary that is there, or the default.
    fn spec(&self, like: Option<&Spec>) -> Spec {
        let structure = self.structure.clone().or_else(|| like.map(|spec| spec.structure.clone()));
        let structure = structure.unwrap_or(Structure::Auto);
        let of_weights = self.weights.iter().map(|(name, _)| name).filter(|_| structure.needs().weight);
        let mut names: Vec<&String> = self.targets.iter().map(|(name, _)| name).collect();
        let further: Vec<&String> = of_weights.filter(|name| !names.contains(name)).collect();
        names.extend(further);
        let mut spec = Spec::new(structure, names);
        for policy in &mut spec.policies {
            policy.chi = self.chi.iter().any(|(target, _)| *target == policy.name);
        }
        spec.by = self.by.as_ref().map(|(column, _)| column.clone());
        spec.cluster = self.cluster.as_ref().map(|(column, _)| column.clone());
        let default = Spec::new(Structure::Auto, [""; 0]);
        let like = like.unwrap_or(&default);
        spec.target_slots = self.target_slots.unwrap_or(like.target_slots);
        spec.propensities = self.propensities.unwrap_or(like.propensities);
        spec.binning = self.binning.unwrap_or(like.binning);
        spec.baseline = self.baseline.clone().or_else(|| like.baseline.clone());
        spec.interactions = like.interactions;
        spec.columns = like.columns.clone();
        spec
    }
}
