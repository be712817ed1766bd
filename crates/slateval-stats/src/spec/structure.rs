//! The structure one assumes of the reward's distribution: which importance weight is used.
//! See docs/methods.md, section 2.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::names::setting;
use crate::spec::error::{Error, Result};

/// Orders that structure auto chooses among.
pub const ORDERS: usize = 4;

/// Which slots' effects on the reward distribution may depend on each other, and so which weight `G` makes
/// `E[G 1{R <= v}]` the target's CDF.
///
/// With slot ratios `Y_k = pi_k / mu_k` and `Z_k = Y_k - 1`:
///
/// ```
/// use slateval_stats::Structure;
/// for name in ["auto", "additive", "product", "order:2", "interactions:1+2,3+4", "ranking:20", "given", "paper-order:2"] {
///     assert_eq!(name.parse::<Structure>()?.to_string(), name);
/// }
/// # Ok::<(), slateval_stats::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
#[non_exhaustive]
pub enum Structure {
    /// `G = sum_{j<=m} e_j(Z)` with the order `m` chosen from the data: for the CDF, for the mean and for the second
    /// moment.
    Auto,
    /// `G = 1 + sum_k Z_k`: the CDF is a sum of functions of one slot each (SUnO, the paper's equation for `G`).
    Additive,
    /// `G = prod_k Y_k`: nothing is assumed (UnO, the paper's `rho`).
    Product,
    /// `G = sum_{j<=m} e_j(Z)`: the CDF is a sum of functions of `m` slots each. Equals [`Additive`](Self::Additive)
    /// at `m = 1` and [`Product`](Self::Product) from `m = K` on.
    Order(usize),
    /// `G = sum_{S in F} prod_{k in S} Z_k`: only the named slots interact.
    Interactions(Family),
    /// Additive CDF, and a logging policy that drew the slate uniformly *without replacement*.
    Ranking(Pool),
    /// A weight computed elsewhere.
    Given,
    /// The paper's literal m-slot weight, `sum_{|S|=m} (prod_{k in S} Y_k - 1) + 1`. Biased for `1 < m < K`: it counts
    /// an effect of `s < m` slots `C(K-s, m-s)` times. For reproduction only.
    PaperOrder(usize),
}

/// From how many items the logging policy drew its slates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pool {
    /// The same number for every slate.
    Size(usize),
    /// A number for each slate, in this column.
    Column(String),
}

/// What is known of a target policy's slots given the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum TargetSlots {
    /// The target fills its slots independently, so that joint propensities are products.
    #[default]
    Independent,
    /// The target's slots depend on each other: only its marginals are known, which carries additive structures alone.
    Joint,
}

/// The columns a structure needs beside the reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// `pi_k`.
    pub slots: bool,
    /// `mu_k`.
    pub logging: bool,
    /// The size of the pool, row by row.
    pub pool: bool,
    /// `any_k`.
    pub anywhere: bool,
    /// A ready-made weight.
    pub weight: bool,
}

impl Structure {
    /// The columns this structure needs.
    pub fn needs(&self) -> Needs {
        let factored = Needs { slots: true, logging: true, pool: false, anywhere: false, weight: false };
        match self {
            Structure::Ranking(pool) => {
                Needs { logging: false, anywhere: true, pool: matches!(pool, Pool::Column(_)), ..factored }
            }
            Structure::Given => Needs { slots: false, logging: false, weight: true, ..factored },
            _ => factored,
        }
    }

    /// Whether `G = 1 + sum_k Z_k`, whatever the number of slots.
    pub fn is_additive(&self) -> bool {
        match self {
            Structure::Additive | Structure::Order(1) | Structure::PaperOrder(1) => true,
            Structure::Interactions(family) => family.closure.is_empty(),
            _ => false,
        }
    }

    /// Whether the weight needs the target's slots to be independent given the context.
    pub fn needs_independent_slots(&self) -> bool {
        match self {
            Structure::Auto | Structure::Additive | Structure::Ranking(_) | Structure::Given => false,
            Structure::Order(m) | Structure::PaperOrder(m) => *m > 1,
            Structure::Interactions(family) => !family.closure.is_empty(),
            Structure::Product => true,
        }
    }

    /// Refuses an order of 0, and an order that the target's marginals cannot carry.
    pub(crate) fn check(&self, slots: TargetSlots) -> Result<()> {
        if slots == TargetSlots::Joint && self.needs_independent_slots() {
            return Err(self.bad(
                "needs a target whose slots are independent given the context; with joint slots use \
                 additive, ranking or given",
            ));
        }
        match self {
            Structure::Order(0) | Structure::PaperOrder(0) => Err(self.bad("the order must be at least 1")),
            Structure::Ranking(Pool::Size(0)) => Err(self.bad("the number of candidates must be at least 1")),
            Structure::Ranking(Pool::Column(name)) if name.parse::<usize>().is_ok() => {
                Err(self.bad("a column whose name is a number would be read as that number"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses slates that cannot have been drawn from so few items.
    pub fn check_slots(&self, slots: usize) -> Result<()> {
        match self {
            Structure::Ranking(Pool::Size(n)) if *n < slots => {
                Err(self.bad(&format!("slates have {slots} slots, which cannot be filled from {n} items")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a log whose longest slates do not have the slots this structure speaks of. A single block may
    /// lack those slots, because slates differ in length.
    pub(crate) fn check_longest(&self, slots: usize) -> Result<()> {
        match self {
            _ if slots == 0 && self.needs().slots => Err(self.bad("no slate of the log has any slot")),
            Structure::Interactions(family) if family.slots() > slots => {
                Err(self.bad(&format!("slot {} is named, but slates have {slots} slots", family.slots())))
            }
            Structure::Order(m) | Structure::PaperOrder(m) if *m > slots => {
                let noun = if slots == 1 { "slot" } else { "slots" };
                Err(self.bad(&format!("slates have only {slots} {noun}, so there are no sets of {m}")))
            }
            _ => Ok(()),
        }
    }

    fn bad(&self, why: &str) -> Error {
        Error::BadStructure { text: self.to_string(), why: why.into() }
    }
}

/// A downward-closed family of sets of slots: the named sets with all their subsets, and every single slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// The named sets, slots from 0, ascending.
    named: BTreeSet<Vec<usize>>,
    /// Every set of two slots or more, named or below a named one.
    closure: BTreeSet<Vec<usize>>,
}

impl Family {
    /// Larger sets have more subsets than a weight can sum over.
    const LARGEST: usize = 16;

    /// Sets of two slots or more in a family: room for all subsets of one largest set.
    const MOST: usize = 1 << Self::LARGEST;

    /// The family generated by these sets of slots (counted from 0).
    ///
    /// # Errors
    /// [`Error::BadStructure`] for a set of more than 16 slots, and for more than 65,536 sets with all their subsets.
    pub fn new(sets: impl IntoIterator<Item = Vec<usize>>) -> Result<Self> {
        let ascending = |mut set: Vec<usize>| {
            set.sort_unstable();
            set.dedup();
            set
        };
        let named: BTreeSet<Vec<usize>> = sets.into_iter().map(ascending).collect();
        let bad = |why: String| Error::BadStructure { text: "interactions".into(), why };
        if let Some(large) = named.iter().find(|set| set.len() > Self::LARGEST) {
            return Err(bad(format!("a set of {} slots is too large (at most {})", large.len(), Self::LARGEST)));
        }
        let closure = Self::close(&named).ok_or_else(|| {
            let most = Self::MOST;
            bad(format!("with all their subsets these are more than {most} sets; name fewer sets, or smaller ones"))
        })?;
        Ok(Family { named, closure })
    }

    /// The named sets with all their subsets, unless there are too many: a short text can name billions.
    fn close(named: &BTreeSet<Vec<usize>>) -> Option<BTreeSet<Vec<usize>>> {
        // From the largest on, so that most of the smaller ones are there already.
        let mut sets: Vec<&Vec<usize>> = named.iter().collect();
        sets.sort_by_key(|set| Reverse(set.len()));
        let mut closure = BTreeSet::new();
        for set in sets {
            if !closure.contains(set) {
                closure.extend(subsets(set).filter(|set| set.len() > 1));
            }
            if closure.len() > Self::MOST {
                return None;
            }
        }
        Some(closure)
    }

    /// Every set of two slots or more in the family, each once; the single slots go without saying.
    ///
    /// ```
    /// let family = slateval_stats::Family::new([vec![0, 1, 2], vec![1, 3]])?;
    /// assert_eq!(family.closure().len(), 5); // {0,1}, {0,1,2}, {0,2}, {1,2}, {1,3}
    /// # Ok::<(), slateval_stats::Error>(())
    /// ```
    pub fn closure(&self) -> &BTreeSet<Vec<usize>> {
        &self.closure
    }

    /// The number of slots a slate must have for every named set to exist.
    pub fn slots(&self) -> usize {
        self.named.iter().filter_map(|set| set.last()).max().map_or(0, |last| last + 1)
    }
}

fn subsets(set: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    (0..1u32 << set.len()).map(|bits| (0..set.len()).filter(|b| bits >> b & 1 == 1).map(|b| set[b]).collect())
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Structure::Auto => write!(f, "auto"),
            Structure::Additive => write!(f, "additive"),
            Structure::Product => write!(f, "product"),
            Structure::Order(m) => write!(f, "order:{m}"),
            Structure::Ranking(Pool::Size(n)) => write!(f, "ranking:{n}"),
            Structure::Ranking(Pool::Column(name)) => write!(f, "ranking:{name}"),
            Structure::Given => write!(f, "given"),
            Structure::PaperOrder(m) => write!(f, "paper-order:{m}"),
            Structure::Interactions(family) => {
                let set = |s: &Vec<usize>| s.iter().map(|k| (k + 1).to_string()).collect::<Vec<_>>().join("+");
                let sets: Vec<String> = family.named.iter().map(set).collect();
                write!(f, "interactions:{}", sets.join(","))
            }
        }
    }
}

impl FromStr for Structure {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why: &str| Error::BadStructure { text: text.into(), why: why.into() };
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let order = || {
            argument
                .and_then(|m| m.parse::<usize>().ok())
                .filter(|&m| m >= 1)
                .ok_or_else(|| bad("needs a whole number of slots from 1 on, for example order:2"))
        };
        match (name, argument) {
            ("auto", None) => Ok(Structure::Auto),
            ("additive", None) => Ok(Structure::Additive),
            ("product", None) => Ok(Structure::Product),
            ("given", None) => Ok(Structure::Given),
            ("order", _) => Ok(Structure::Order(order()?)),
            ("paper-order", _) => Ok(Structure::PaperOrder(order()?)),
            ("ranking", Some(pool)) if !pool.is_empty() => Ok(Structure::Ranking(match pool.parse() {
                Ok(0) => return Err(bad("the number of candidates must be at least 1")),
                Ok(size) => Pool::Size(size),
                Err(_) => Pool::Column(pool.into()),
            })),
            ("ranking", _) => Err(bad("needs the number of candidates or a column, for example ranking:20")),
            ("interactions", Some(sets)) => parse_family(sets).map(Structure::Interactions).map_err(|why| bad(&why)),
            ("interactions", None) => Err(bad("needs sets of slots, for example interactions:1+2,2+3")),
            _ => Err(bad(
                "must be auto, additive, product, order:M, interactions:1+2,2+3, ranking:N, ranking:COLUMN, given or \
                 paper-order:M",
            )),
        }
    }
}

fn parse_family(sets: &str) -> std::result::Result<Family, String> {
    let slot = |s: &str| match s.trim().parse::<usize>() {
        Ok(k) if k >= 1 => Ok(k - 1),
        _ => Err(format!("`{s}` is not a slot; slots count from 1, as in interactions:1+2,2+3")),
    };
    let parsed: Vec<Vec<usize>> = sets
        .split(',')
        .map(|set| set.split('+').map(slot).collect::<std::result::Result<_, _>>())
        .collect::<std::result::Result<_, _>>()?;
    Family::new(parsed).map_err(|error| match error {
        Error::BadStructure { why, .. } => why,
        other => other.to_string(),
    })
}

impl TryFrom<String> for Structure {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Structure> for String {
    fn from(structure: Structure) -> String {
        structure.to_string()
    }
}

setting!(TargetSlots, "target-slots", "must be independent or joint", { Independent: "independent", Joint: "joint" });
