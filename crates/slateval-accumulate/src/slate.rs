//! One logged slate: what [`Accumulator::record`](crate::Accumulator::record) takes.

use slateval_stats::{Error, Field, Result, Segment, Spec};

use crate::block::Block;

/// One logged slate, for [`Accumulator::record`](crate::Accumulator::record): its reward, and what its [`Spec`] asks for beside it.
///
/// Targets come in the order of the specification. A slate has as many slots as it has propensities; slates of one
/// summary may differ. A slot in the middle that the slate does not have is NaN for logging and for every target.
#[derive(Debug, Clone)]
pub struct Slate<'a> {
    reward: f64,
    logging: &'a [f64],
    targets: &'a [&'a [f64]],
    chi: &'a [&'a [f64]],
    anywhere: &'a [&'a [f64]],
    weights: &'a [f64],
    pool: Option<usize>,
    segment: Segment,
    cluster: Segment,
}

impl<'a> Slate<'a> {
    /// A slate with this reward, and nothing else yet.
    pub fn new(reward: f64) -> Self {
        Slate {
            reward,
            logging: &[],
            targets: &[],
            chi: &[],
            anywhere: &[],
            weights: &[],
            pool: None,
            segment: Segment::Null,
            cluster: Segment::Null,
        }
    }

    /// `mu_k`: the logging propensity of the action shown in each slot.
    pub fn logging(mut self, mu: &'a [f64]) -> Self {
        self.logging = mu;
        self
    }

    /// `pi_k`: each target's propensity of the same actions.
    pub fn targets(mut self, pi: &'a [&'a [f64]]) -> Self {
        self.targets = pi;
        self
    }

    /// `chi_k` of each target, where the specification asks for it; an empty slice for a target without.
    pub fn chi(mut self, chi: &'a [&'a [f64]]) -> Self {
        self.chi = chi;
        self
    }

    /// Each target's probability of showing the item of a slot anywhere in its slate, for structure ranking.
    pub fn anywhere(mut self, anywhere: &'a [&'a [f64]]) -> Self {
        self.anywhere = anywhere;
        self
    }

    /// The slate's weight under each target, for structure given.
    pub fn weights(mut self, weights: &'a [f64]) -> Self {
        self.weights = weights;
        self
    }

    /// How many items the slate was drawn from, for structure ranking with a column of pools.
    pub fn pool(mut self, items: usize) -> Self {
        self.pool = Some(items);
        self
    }

    /// The segment, where the specification has a column of segments.
    pub fn segment(mut self, value: impl Into<Segment>) -> Self {
        self.segment = value.into();
        self
    }

    /// The cluster, such as a user, where the specification has a column of clusters.
    pub fn cluster(mut self, value: impl Into<Segment>) -> Self {
        self.cluster = value.into();
        self
    }

    /// Makes `block` hold this slate alone.
    pub(crate) fn fill(&self, spec: &Spec, block: &mut Block) -> Result<()> {
        let slots = self.check_shape(spec)?;
        block.reset(1, slots);
        for field in block.fields() {
            block.column_mut(field)[0] = match field {
                Field::Reward => self.reward,
                Field::Pool => self.pool.map_or(f64::NAN, |items| items as f64),
                Field::Logging { slot } => self.logging[slot],
                Field::Target { policy, slot } => self.targets[policy][slot],
                Field::Chi { policy, slot } => self.chi[policy][slot],
                Field::Anywhere { policy, slot } => self.anywhere[policy][slot],
                Field::Weight { policy } => self.weights[policy],
            };
        }
        if spec.by.is_some() {
            block.set_segment(0, &self.segment);
        }
        if spec.cluster.is_some() {
            block.set_cluster(0, &self.cluster);
        }
        block.mark_missing(spec)
    }

    /// The number of slots, if everything that is needed has it.
    fn check_shape(&self, spec: &Spec) -> Result<usize> {
        let (needs, policies) = (spec.structure.needs(), spec.policies.len());
        let bad = |what: String, why: String| Err(Error::BadShape { what, why });
        let count = |what: &str, found: usize| match found == policies {
            true => Ok(()),
            false => bad(what.into(), format!("given for {found} targets, but the summary is of {policies}")),
        };
        if needs.weight {
            count("weights", self.weights.len())?;
        }
        if !needs.slots {
            return Ok(0);
        }
        count("targets", self.targets.len())?;
        let slots = if needs.logging { self.logging.len() } else { self.targets[0].len() };
        let same = |what: &str, of: usize, values: &[f64]| match values.len() == slots {
            true => Ok(()),
            false => {
                let what = format!("{what} of `{}`", spec.policies[of].name);
                bad(what, format!("given for {} slots, but the slate has {slots}", values.len()))
            }
        };
        if needs.anywhere {
            count("anywhere", self.anywhere.len())?;
        }
        if spec.policies.iter().any(|policy| policy.chi) {
            count("chi", self.chi.len())?;
        }
        for (policy, of) in spec.policies.iter().enumerate() {
            same("the target propensities", policy, self.targets[policy])?;
            if needs.anywhere {
                same("the anywhere probabilities", policy, self.anywhere[policy])?;
            }
            if of.chi {
                same("chi", policy, self.chi[policy])?;
            }
        }
        Ok(slots)
    }
}
