//! Shows slateval evaluations and inspections to people and programs: terminal tables, pages, pictures, JSON, files of
//! the CDF.
//!
//! ```
//! # use slateval::{Block, Field, Settings, Spec, Structure, Summary};
//! # let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"]))?;
//! # let mut block = Block::new(summary.spec());
//! # block.reset(2, 1);
//! # block.column_mut(Field::Reward).copy_from_slice(&[1.0, 0.0]);
//! # block.column_mut(Field::Logging { slot: 0 }).fill(0.5);
//! # block.column_mut(Field::Target { policy: 0, slot: 0 }).copy_from_slice(&[0.9, 0.1]);
//! # summary.add(&block)?;
//! let settings = Settings::default();
//! let evaluation = summary.evaluate(&settings)?;
//! println!("{}", slateval_report::table(&evaluation, &settings, slateval_report::Look::default()));
//! let (voice, points) = (slateval_report::Voice::CommandLine, slateval_report::CdfPoints::Thinned);
//! let json = slateval_report::json(&evaluation, &"how it was made", voice, points)?;
//! assert!(json.starts_with("{\n  \"schema\": \"slateval/evaluation/1\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! `parquet` and `png` are on by default. Without them, the functions are there and return [`Error::NotBuilt`].
//!
//! | | |
//! |---|---|
//! | `parquet` | CDFs as Parquet; CSV needs no feature |
//! | `png` | plots as PNG, with a font; SVG needs no feature |

mod cdf;
mod chart;
mod checks;
mod compare;
mod grid;
mod html;
mod inspect;
mod json;
mod layout;
mod markup;
mod metrics;
#[cfg(not(all(feature = "parquet", feature = "png")))]
mod not_built;
mod notes;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "png")]
mod pixels;
mod plot;
mod points;
mod record;
mod segments;
mod terminal;
mod text;
mod whole;

use slateval_text::{number, standing};

#[cfg(not(feature = "parquet"))]
use not_built::parquet_file;
#[cfg(not(feature = "png"))]
use not_built::pixels;

pub use cdf::write_cdf;
pub use checks::warnings;
pub use html::{Report, html, notebook};
pub use inspect::{Inspection, Noticed, SchemaColumn, columns_found, inspection, inspection_json};
pub use json::json;
pub use plot::{Picture, picture, png, svg, write_picture, write_plot};
pub use points::{CdfPoints, MOST_CDF_POINTS};
pub use record::{ComparisonRecord, DisparityRecord, IntervalRecord, PolicyRecord, SegmentRecord};
pub use slateval_text::checks::Tally;
pub use slateval_text::{Voice, printable, safe_json};
pub use terminal::{Detail, Look, Style, table};
pub use whole::write_whole;

/// Why something could not be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be written.
    #[error("cannot write {}: {source}", text::shown(.path))]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file name whose ending says nothing known.
    #[error("{}: the name must end in {endings}", text::shown(.path))]
    Ending {
        /// The file.
        path: String,
        /// What it may end in.
        endings: &'static str,
    },
    /// A format that this build was made without.
    #[error("this build cannot write {format}: build with feature `{feature}`")]
    NotBuilt {
        /// The format.
        format: &'static str,
        /// The feature of this crate that brings it.
        feature: &'static str,
    },
    /// An encoder's refusal.
    #[error("cannot encode {what}: {}", text::shown(.reason))]
    Encode {
        /// What was to be encoded.
        what: &'static str,
        /// Why not.
        reason: String,
    },
}
