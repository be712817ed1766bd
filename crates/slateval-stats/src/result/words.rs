//! How reasons and findings are put into words.
//!
//! The core says what it found in plain sentences. What to do about it is an [`Advice`]; each front end words it in its own
//! terms, a flag on the command line or a keyword argument in Python, by implementing [`Words`].

/// Something to do that is a setting: each front end has its own name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Bins of equal relative width.
    LogBins,
    /// The same, or more bins.
    FinerBins,
    /// A structure named in advance, rather than chosen from the data.
    NameStructure,
    /// The smallest propensity that the logging policy gives to any action.
    MinPropensity,
    /// The structure for logs that show no item twice, with the number of candidates if the log tells it.
    Ranking(Option<usize>),
    /// The structure that assumes nothing.
    ProductStructure,
    /// Say that the target's slots depend on each other.
    JointTargetSlots,
}

/// A front end's words for an [`Advice`].
pub trait Words {
    /// A clause that begins with a verb, such as `use logarithmic bins`.
    fn advice(&self, advice: Advice) -> String;
}

/// Words that name no front end: what `Display` uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainWords;

impl Words for PlainWords {
    fn advice(&self, advice: Advice) -> String {
        match advice {
            Advice::LogBins => "use logarithmic bins".to_owned(),
            Advice::FinerBins => {
                "use logarithmic bins for rewards over many orders of magnitude, or more bins".to_owned()
            }
            Advice::NameStructure => "name the structure".to_owned(),
            Advice::MinPropensity => "give the smallest logging propensity of any action".to_owned(),
            Advice::Ranking(Some(pool)) => format!("use structure ranking:{pool}"),
            Advice::Ranking(None) => "use structure ranking:N with the number N of candidates".to_owned(),
            Advice::ProductStructure => "read the log with structure product".to_owned(),
            Advice::JointTargetSlots => "say that the target's slots are joint".to_owned(),
        }
    }
}

/// `a, b and c`.
pub(crate) fn listed(words: &[impl AsRef<str>]) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}
