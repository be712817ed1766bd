//! The schema as understood: which column plays which role.

use std::fmt;

use slateval::{Field, Spec};

use crate::columns::label::Place;
use crate::columns::layout::{Found, Layout, Scalar, SlotColumns};
use crate::columns::wanted::{Columns, RowFormat};
use crate::error::{ColumnContent, Result};

/// A role, and the columns that play it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnUse {
    /// The role.
    pub role: ColumnRole,
    /// The target policy it is of.
    pub policy: Option<String>,
    /// The name as given or assumed: `mu` for `mu_1, mu_2, …`.
    pub name: String,
    /// The columns of the log, or the directory's key; none where an optional column is not there.
    pub columns: Vec<String>,
    /// What they hold, in Arrow's words.
    pub data_type: Option<String>,
    /// Whether it is read. Some columns are there and of no use to the structure asked for.
    pub used: bool,
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRole {
    /// The reward.
    Reward,
    /// The number of candidates of each slate.
    Pool,
    /// Logging propensities.
    Logging,
    /// A target's propensities.
    Target,
    /// A target's chi.
    Chi,
    /// A target's probabilities anywhere in the slate.
    Anywhere,
    /// A ready-made weight.
    Weight,
    /// Segments.
    Segment,
    /// Clusters.
    Cluster,
    /// Long format: the slate of a row.
    Slate,
    /// Long format: the slot of a row.
    Position,
}

/// How a role is spoken of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    word: &'static str,
    /// The values of its column.
    pub(crate) values: &'static str,
    /// The setting that names the column.
    pub(crate) setting: &'static str,
}

impl ColumnRole {
    /// In one word.
    pub fn word(self) -> &'static str {
        self.words().word
    }

    pub(crate) fn words(self) -> Words {
        let [word, values, setting] = match self {
            ColumnRole::Reward => ["reward", "the rewards", "reward"],
            ColumnRole::Pool => ["candidates", "the number of candidates of each slate", "structure"],
            ColumnRole::Logging => ["logging", "the logging propensities", "logging"],
            ColumnRole::Target => ["target", "the propensities", "target"],
            ColumnRole::Chi => ["chi", "chi", "chi"],
            ColumnRole::Anywhere => ["anywhere", "the probabilities anywhere in the slate", "anywhere"],
            ColumnRole::Weight => ["weight", "the slate weights", "weight"],
            ColumnRole::Segment => ["segment", "the segments", "by"],
            ColumnRole::Cluster => ["cluster", "the clusters", "cluster"],
            ColumnRole::Slate => ["slate", "the slates of a log with one row per slot", "slate"],
            ColumnRole::Position => ["position", "the positions of a slate's slots", ""],
        };
        Words { word, values, setting }
    }

    /// The content of a target's column.
    pub(crate) fn of(self, target: &str) -> ColumnContent {
        ColumnContent { role: self, target: Some(target.to_owned()) }
    }
}

impl fmt::Display for ColumnRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A log's schema as understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Every role, in the order one reads them in.
    pub uses: Vec<ColumnUse>,
    /// Columns that nothing was found for.
    pub unused: Vec<String>,
}

impl Description {
    /// Of a file whose columns, its directories' included, are called `all`.
    ///
    /// # Errors
    /// As for [`Layout::resolve`].
    pub(crate) fn of(found: Found<'_>, all: &[String], columns: &Columns, spec: &Spec) -> Result<Self> {
        let layout = Layout::resolve(found, columns, spec)?;
        let uses = Uses { found, columns, layout: &layout }.all(spec);
        Ok(Description::new(uses, all))
    }

    /// The same of a file that lacks some of the columns: what was found of those that every log needs.
    pub(crate) fn in_part(found: Found<'_>, all: &[String], columns: &Columns, spec: &Spec) -> Self {
        let nothing = Layout { scalars: Vec::new(), groups: Vec::new(), labels: Vec::new(), keys: None };
        let uses = Uses { found, columns, layout: &nothing }.needed(spec);
        Description::new(uses, all)
    }

    fn new(uses: Vec<ColumnUse>, all: &[String]) -> Self {
        let is_used = |name: &&String| uses.iter().any(|u| u.columns.contains(name));
        let unused = all.iter().filter(|name| !is_used(name)).cloned().collect();
        Description { uses, unused }
    }
}

struct Uses<'a> {
    found: Found<'a>,
    columns: &'a Columns,
    layout: &'a Layout,
}

impl Uses<'_> {
    fn all(&self, spec: &Spec) -> Vec<ColumnUse> {
        let mut uses = self.scalars();
        uses.extend(self.layout.groups.iter().map(|group| self.group(group)));
        uses.extend(self.optional(spec));
        if let Some(keys) = &self.layout.keys {
            uses.push(self.column(ColumnRole::Slate, None, &keys.slate_name, &[keys.slate]));
            uses.push(self.column(ColumnRole::Position, None, &keys.position_name, &[keys.position]));
        }
        for label in &self.layout.labels {
            let role = label.role;
            uses.push(match &label.place {
                place @ (Place::Column(_) | Place::Several(_)) => {
                    self.column(role, None, &label.name, &place.indices())
                }
                Place::Constant(_) => ColumnUse {
                    columns: vec![label.name.clone()],
                    data_type: Some("directory".into()),
                    used: true,
                    ..self.column(role, None, &label.name, &[])
                },
            });
        }
        uses
    }

    /// The columns that every log needs, each as far as it is there.
    fn needed(&self, spec: &Spec) -> Vec<ColumnUse> {
        let (needs, columns) = (spec.structure.needs(), self.columns);
        let one = |role, name: &str| self.column(role, None, name, self.found.index(name).as_slice());
        let slots = |role, policy, base: &str| self.column(role, policy, base, &self.found.slot_columns(base, columns));
        let mut uses = vec![one(ColumnRole::Reward, &columns.reward)];
        if needs.logging {
            uses.push(slots(ColumnRole::Logging, None, &columns.logging));
        }
        for (policy, target) in columns.targets.iter().enumerate().filter(|_| needs.slots) {
            uses.push(slots(ColumnRole::Target, Some(policy), &target.target));
        }
        if let RowFormat::Long { slate, position } = &columns.format {
            uses.extend([one(ColumnRole::Slate, slate), one(ColumnRole::Position, position)]);
        }
        uses.extend(columns.by.as_deref().map(|name| one(ColumnRole::Segment, name)));
        uses.extend(columns.cluster.as_deref().map(|name| one(ColumnRole::Cluster, name)));
        uses
    }

    fn scalars(&self) -> Vec<ColumnUse> {
        let describe = |scalar: &Scalar| {
            let (role, policy) = match scalar.field {
                Field::Weight { policy } => (ColumnRole::Weight, Some(policy)),
                Field::Pool => (ColumnRole::Pool, None),
                _ => (ColumnRole::Reward, None),
            };
            self.column(role, policy, &scalar.name, &[scalar.index])
        };
        self.layout.scalars.iter().map(describe).collect()
    }

    fn group(&self, group: &SlotColumns) -> ColumnUse {
        let (role, policy) = group.role.described();
        self.column(role, policy, &group.base, group.arrangement.columns())
    }

    /// Columns that were looked for and not found, and columns that were found and are not needed.
    fn optional(&self, spec: &Spec) -> Vec<ColumnUse> {
        let needs = spec.structure.needs();
        let mut uses = Vec::new();
        for (policy, (target, own)) in self.columns.targets.iter().zip(&spec.policies).enumerate() {
            if let Some(name) = target.chi.name().filter(|_| needs.slots && !own.chi) {
                uses.push(self.column(ColumnRole::Chi, Some(policy), name, &[]));
            }
            let mut idle = |role, name: &str, column: Option<String>| {
                if let Some(index) = column.and_then(|column| self.found.index(&column)) {
                    uses.push(ColumnUse { used: false, ..self.column(role, Some(policy), name, &[index]) });
                }
            };
            if !needs.anywhere {
                let column = self.found.column_of(&target.anywhere, self.columns);
                idle(ColumnRole::Anywhere, &target.anywhere, column);
            }
            if !needs.weight {
                idle(ColumnRole::Weight, &target.weight, Some(target.weight.clone()));
            }
        }
        uses
    }

    fn column(&self, role: ColumnRole, policy: Option<usize>, name: &str, indices: &[usize]) -> ColumnUse {
        let fields: Vec<_> = indices.iter().map(|&i| self.found.schema.field(i)).collect();
        let mut types: Vec<String> = fields.iter().map(|f| f.data_type().to_string()).collect();
        types.dedup();
        let data_type = match (types.is_empty(), self.found.text) {
            (true, _) => None,
            (false, true) => Some("CSV".to_owned()),
            (false, false) => Some(types.join(", ")),
        };
        ColumnUse {
            role,
            policy: policy.and_then(|p| self.columns.targets.get(p)).map(|t| t.name.clone()),
            name: name.to_owned(),
            columns: fields.iter().map(|f| f.name().clone()).collect(),
            data_type,
            used: !indices.is_empty(),
        }
    }
}
