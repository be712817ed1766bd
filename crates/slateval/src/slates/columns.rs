//! From data in memory to blocks of rows: what is there, whether it fits together, and a block at a time of it.

use slateval_accumulate::Block;
use slateval_stats::{Error, Field, PolicySpec, Result, Spec};

use crate::slates::Slates;
use crate::slates::labels::Labels;
use crate::slates::slots::Slots;

/// The columns that a specification asks for, of slates whose lengths fit together.
pub(crate) struct Columns<'a> {
    reward: &'a [f64],
    slots: usize,
    logging: Option<&'a Slots<'a>>,
    pool: Option<&'a [f64]>,
    policies: Vec<PolicyColumns<'a>>,
    by: Option<&'a Labels>,
    cluster: Option<&'a Labels>,
}

struct PolicyColumns<'a> {
    target: Option<&'a Slots<'a>>,
    chi: Option<&'a Slots<'a>>,
    anywhere: Option<&'a Slots<'a>>,
    weight: Option<&'a [f64]>,
}

impl<'a> Columns<'a> {
    /// What `spec` asks for, of these slates.
    pub(crate) fn new(slates: &'a Slates<'_>, spec: &Spec) -> Result<Self> {
        check_names(slates, spec)?;
        let needs = spec.structure.needs();
        let missing = |what: String| Error::MissingData { what, structure: spec.structure.to_string() };
        let of_target = |what: &str, name: &str| missing(format!("{what} of target `{name}`"));
        let by_slot = |needed: bool, what, given: &'a [(String, Slots<'_>)], name: &str| {
            let found = given.iter().find(|(target, _)| target == name).map(|(_, slots)| slots);
            if needed && found.is_none() { Err(of_target(what, name)) } else { Ok(found.filter(|_| needed)) }
        };
        let policy = |policy: &PolicySpec| {
            let name = policy.name.as_str();
            let weight = slates.weights.iter().find(|(target, _)| target == name).map(|(_, weight)| *weight);
            Ok(PolicyColumns {
                target: by_slot(needs.slots, "propensities", &slates.targets, name)?,
                chi: by_slot(needs.slots && policy.chi, "chi", &slates.chi, name)?,
                anywhere: by_slot(needs.anywhere, "anywhere probabilities", &slates.anywhere, name)?,
                weight: if needs.weight { Some(weight.ok_or_else(|| of_target("weights", name))?) } else { None },
            })
        };
        let logging = slates.logging.as_ref().filter(|_| needs.logging);
        if needs.logging && logging.is_none() {
            return Err(missing("logging propensities".into()));
        }
        let pool = slates.pool.filter(|_| needs.pool);
        if needs.pool && pool.is_none() {
            return Err(missing("the sizes of pools".into()));
        }
        let mut columns = Columns {
            reward: slates.reward,
            slots: 0,
            logging,
            pool,
            policies: spec.policies.iter().map(policy).collect::<Result<_>>()?,
            by: slates.by.as_ref().map(|(_, labels)| labels),
            cluster: slates.cluster.as_ref().map(|(_, labels)| labels),
        };
        columns.slots = columns.count_slots(spec)?;
        columns.check_rows(spec)?;
        spec.structure.check_slots(columns.slots)?;
        Ok(columns)
    }

    /// The number of slots that all data by slot have.
    fn count_slots(&self, spec: &Spec) -> Result<usize> {
        let mut given: Vec<(String, &Slots<'_>)> = Vec::new();
        given.extend(self.logging.map(|slots| ("the logging propensities".to_owned(), slots)));
        for (policy, of) in self.policies.iter().zip(&spec.policies) {
            given.extend(policy.target.map(|slots| (format!("the propensities of target `{}`", of.name), slots)));
            given.extend(policy.chi.map(|slots| (format!("chi of target `{}`", of.name), slots)));
            given.extend(policy.anywhere.map(|slots| (format!("anywhere of target `{}`", of.name), slots)));
        }
        let mut counts = Vec::with_capacity(given.len());
        for (what, slots) in &given {
            counts.push(slots.count(self.reward.len(), what)?);
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        // Slates that say themselves how many slots they have may all be shorter.
        let differs = |&i: &usize| counts[i] != most && !given[i].1.is_ragged();
        let longest = counts.iter().position(|count| *count == most).unwrap_or(0);
        match (0..given.len()).find(differs) {
            None => Ok(most),
            Some(i) => {
                let why = format!("given for {} slots, but {} for {most}", counts[i], given[longest].0);
                Err(Error::BadShape { what: given[i].0.clone(), why })
            }
        }
    }

    /// Refuses columns that do not have a value for each slate.
    fn check_rows(&self, spec: &Spec) -> Result<()> {
        let rows = self.reward.len();
        let same = |what: String, found: usize| match found == rows {
            true => Ok(()),
            false => Err(Error::BadShape { what, why: format!("there are {found} values, but {rows} rewards") }),
        };
        for (policy, of) in self.policies.iter().zip(&spec.policies) {
            same(format!("the weights of target `{}`", of.name), policy.weight.map_or(rows, <[f64]>::len))?;
        }
        same("the pool".into(), self.pool.map_or(rows, <[f64]>::len))?;
        let name = |column: &Option<String>| column.clone().unwrap_or_default();
        same(format!("the segments `{}`", name(&spec.by)), self.by.map_or(rows, Labels::len))?;
        same(format!("the clusters `{}`", name(&spec.cluster)), self.cluster.map_or(rows, Labels::len))
    }

    /// Hands over all rows in blocks. Errors count rows over all blocks.
    pub(crate) fn each_block(&self, spec: &Spec, mut take: impl FnMut(&Block) -> Result<()>) -> Result<()> {
        let mut block = Block::new(spec);
        for start in (0..self.reward.len()).step_by(Block::ROWS) {
            self.fill(start, Block::ROWS.min(self.reward.len() - start), &mut block);
            let taken = block.mark_missing(spec).and_then(|()| take(&block));
            taken.map_err(|error| error.after(start))?;
        }
        Ok(())
    }

    fn fill(&self, start: usize, rows: usize, block: &mut Block) {
        block.reset(rows, self.slots);
        for field in block.fields() {
            let out = block.column_mut(field);
            let scalar = |out: &mut [f64], from: Option<&[f64]>| {
                if let Some(from) = from {
                    out.copy_from_slice(&from[start..][..rows]);
                }
            };
            let by_slot = |out: &mut [f64], slot: usize, from: Option<&Slots<'_>>| {
                if let Some(from) = from {
                    from.copy(slot, self.slots, start, out);
                }
            };
            match field {
                Field::Reward => scalar(out, Some(self.reward)),
                Field::Pool => scalar(out, self.pool),
                Field::Weight { policy } => scalar(out, self.policies[policy].weight),
                Field::Logging { slot } => by_slot(out, slot, self.logging),
                Field::Target { policy, slot } => by_slot(out, slot, self.policies[policy].target),
                Field::Chi { policy, slot } => by_slot(out, slot, self.policies[policy].chi),
                Field::Anywhere { policy, slot } => by_slot(out, slot, self.policies[policy].anywhere),
            }
        }
        for row in 0..rows {
            if let Some(by) = self.by {
                block.set_segment(row, by.of(start + row));
            }
            if let Some(cluster) = self.cluster {
                block.set_cluster(row, cluster.of(start + row));
            }
        }
    }
}

/// Refuses data for a target that was not given.
fn check_names(slates: &Slates<'_>, spec: &Spec) -> Result<()> {
    let chi = slates.chi.iter().map(|(name, _)| ("chi", name));
    let anywhere = slates.anywhere.iter().map(|(name, _)| ("anywhere", name));
    let weights = slates.weights.iter().map(|(name, _)| ("weight", name));
    let targets: Vec<String> = spec.policies.iter().map(|policy| format!("`{}`", policy.name)).collect();
    let unknown = |(_, name): &(&'static str, &String)| spec.policies.iter().all(|policy| policy.name != **name);
    match chi.chain(anywhere).chain(weights).find(unknown) {
        None => Ok(()),
        Some((setting, name)) => Err(Error::BadSetting {
            setting,
            value: name.clone(),
            why: format!("there is no such target, only {}", targets.join(", ")),
        }),
    }
}
