//! All sentences for readers: what was found, why something is missing, and what to do about it, in the reader's terms
//! ([`Voice`]); and text from outside made fit to be shown, for names, messages and rules may hold anything.
//!
//! It needs nothing but the statistics' types: a gate in continuous integration needs no fonts and no file formats.

mod advice;
pub mod assumptions;
pub mod checks;
pub mod comparison;
mod escape;
mod finding;
pub mod ignored;
pub mod intervals;
mod lists;
pub mod number;
mod order;
mod reason;
pub mod selection;
pub mod skipped;
pub mod standing;
mod voice;
pub mod weights;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use escape::{name, on_one_line, printable, safe_json, segment_name, sentence};
pub use reason::condition;
pub use slateval_stats::{is_obeyed, shown};
pub use voice::Voice;

/// An answer that can be put into words.
pub trait InWords {
    /// The words, without a full stop and with settings in the reader's terms. Names from data are in them as they are:
    /// [`printable`] makes them fit for a terminal.
    fn in_words(&self, voice: Voice) -> String;
}
