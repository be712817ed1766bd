//! The `.slateval` file: the sums of a log, and where its rows came from, as bytes.
//!
//! [`to_bytes`] and [`from_bytes`] are each other's inverse. The file is versioned, checksummed and self-describing; its
//! numbers are those of [`Sums::parts`](slateval_stats::Sums::parts), and [`Sums::from_parts`](slateval_stats::Sums::from_parts)
//! checks every one of them when a file is read. `docs/formats.md` in the repository describes it byte by byte.
//!
//! ```
//! use slateval_format::{Provenance, from_bytes, to_bytes};
//! use slateval_stats::{Spec, Structure, Sums};
//!
//! let sums = Sums::new(Spec::new(Structure::Auto, ["new"]))?;
//! let bytes = to_bytes(&sums, &Provenance::default());
//! let (again, _) = from_bytes(&bytes)?;
//! assert_eq!(again.spec(), sums.spec());
//! # Ok::<(), slateval_stats::Error>(())
//! ```
#![forbid(unsafe_code)]

mod file;
mod header;
mod history;
mod ignored;
mod inputs;
mod provenance;
mod skipped;

pub use file::{from_bytes, is_summary, to_bytes};
pub use history::History;
pub use inputs::{Content, Input};
pub use provenance::Provenance;
