//! Files that appear whole or not at all, and locks that free themselves.
//!
//! | | |
//! |---|---|
//! | [`WholeFile`] | is written under a temporary name beside its own, then renamed |
//! | [`check_writable`] | tells whether that could be done, before an hour is spent on what is to be written |
//! | [`Lock`] | one process at a time; a process that dies gives its lock back |
//! | [`abandon`] | removes what this process has under temporary names, for one that is about to be ended by a signal |
//!
//! A temporary name has a random part, and its file is created exclusively: processes do not meet under one name, whatever
//! containers or machines they run in. The file is locked while its writer lives, so that whoever writes the same file
//! later can tell a leftover of a dead process from a file that is being written, and removes the former.

mod lock;
mod registry;
mod temporary;
mod whole;

pub use lock::Lock;
pub use registry::abandon;
pub use whole::{WholeFile, check_writable};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
