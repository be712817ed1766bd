//! Rules that a slate policy must meet before it is shipped, judged by what its log can show.
//!
//! ```
//! # use slateval::{Block, Field, Settings, Spec, Structure, Summary};
//! # let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"]))?;
//! # let mut block = Block::new(summary.spec());
//! # block.reset(100, 1);
//! # for row in 0..100 {
//! #     block.column_mut(Field::Reward)[row] = (row % 2) as f64;
//! #     block.column_mut(Field::Logging { slot: 0 })[row] = 0.5;
//! #     block.column_mut(Field::Target { policy: 0, slot: 0 })[row] = [0.1, 0.9][row % 2];
//! # }
//! # summary.add(&block)?;
//! # summary.add(&block)?;
//! use slateval_gate::{Rules, Verdict, judge, text};
//!
//! let rules = Rules::parse("[[rule]]\nrequire = 'mean(new) >= mean(logging)'\n", "rules.toml")?;
//! let verdicts = judge(&summary, &rules, &Settings::default())?;
//! assert_eq!(verdicts.judgements[0].verdict, Verdict::Holds);
//! assert!(verdicts.passed() && text(&verdicts).ends_with("1 of 1 rule holds.\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod evidence;
mod expression;
mod github;
mod json;
mod judge;
mod number;
mod rules;
mod source;
mod text;
mod token;

pub use github::{annotations, markdown};
pub use json::json;
pub use judge::{Judgement, Verdict, Verdicts, judge, settings};
pub use rules::{Adjust, Judge, Rule, Rules, Scope};
pub use source::{Mistake, Position};
pub use text::text;
pub use token::Relation;

/// Why rules could not be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rule that does not fit the summary.
    #[error(transparent)]
    Rule(Mistake),
    /// A confidence so high that draws cannot reach it.
    #[error(
        "bounds at a confidence of {confidence} each ({bounds} rules and segments are judged by a bound) would take \
         {draws} draws, and 200,000 are the most: have fewer rules or segments, a lower confidence, or adjust = \"none\""
    )]
    TooManyBounds {
        /// How many judgements rest on a bound.
        bounds: usize,
        /// The one-sided confidence of each.
        confidence: f64,
        /// The draws it would take.
        draws: f64,
    },
    /// What the estimators refuse.
    #[error(transparent)]
    Evaluation(#[from] slateval::Error),
    /// An encoder's refusal.
    #[error("cannot encode JSON: {0}")]
    Json(#[from] serde_json::Error),
}
