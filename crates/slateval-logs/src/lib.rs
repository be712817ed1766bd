//! Logged slates in: Parquet, CSV, JSON lines and Arrow IPC, read once, into a [`slateval::Summary`].
//!
//! ```text
//! paths ── Log::open ──> Log ── spec ──> Spec ── summarize ──> Summary
//!                         └─ plan ──> Task, Task, … ── partial ──> Summary, Summary, … ── merge ──> the same Summary
//! ```
//!
//! # Read a log
//!
//! Say which [`Columns`] hold what, open the [`Log`], complete the specification with what the log has, and summarise:
//!
//! ```
//! use slateval::{Spec, Structure};
//! use slateval_logs::{Columns, Log};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("log.csv");
//! # let path = path.to_str().ok_or("no name")?;
//! std::fs::write(path, "reward,mu_1,mu_2,pi_1,pi_2\n1.0,0.5,0.5,0.9,0.1\n0.0,0.5,0.5,0.1,0.9\n")?;
//!
//! let columns = Columns::wide_default(); // reward, mu_1.., pi_1..
//! let log = Log::open(&[path.to_owned()])?;
//! let spec = log.spec(&columns, Spec::new(Structure::Additive, ["target"]))?;
//! let summary = log.summarize(&columns, &spec, None, &|progress| eprintln!("{} rows", progress.rows))?;
//! assert_eq!((summary.rows(), summary.slots()), (2, Some(2)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Read it somewhere else
//!
//! A [`Task`] is a file, or some row groups of a Parquet file. [`Log::plan`] lists them, [`partial`] reads one, and
//! [`Summary::merge`](slateval::Summary::merge) puts the parts together: on threads (that is what
//! [`Log::summarize`] does), in Spark, or in a shell loop.
//!
//! # What a log may look like
//!
//! | | |
//! |---|---|
//! | formats | `.parquet`, `.pq`; `.csv`, `.tsv`, `.jsonl`, `.ndjson`, `.json`, each also with `.gz` or `.zst`; `.arrow`, `.ipc`, `.feather`, `.arrows`; an Arrow IPC stream on standard input (`-`). Files with other names are told by their first bytes: Parquet, Arrow, and JSON lines, also packed |
//! | paths | files, directories, patterns; what is in a directory and no log is left out, see [`Log::ignored`]; `country=DE/` becomes a column `country` to segment by. With the feature `object-store` also addresses: `s3://`, `gs://`, `az://`, `http(s)://` |
//! | one row per slate | `mu_1, mu_2, …` or a list `mu`; a slot that the slate does not have is null in all its columns, or beyond the end of the lists |
//! | one row per slot | [`RowFormat::Long`]: the rows of a slate next to each other, positions from 0 or from 1 |
//! | numbers | floats, integers, decimals, dictionaries of them; rewards also truth values |
//! | segments, clusters | whole numbers, truth values, text, dates; in CSV files each cell by itself |
//!
//! # When something is wrong
//!
//! Nothing here panics, and bad input never becomes a number: every [`Error`] says which file, column, row and value,
//! and what to do. The error reported is the same whatever the number of threads.
//!
//! # Cost
//!
//! One pass, and memory does not grow with the log. Parquet: only the columns needed are read, or fetched, and tasks of
//! 262,144 rows or more run in parallel, of a sixteenth of the file if that is more, up to 4 million rows. Every other file is
//! one task; threads share a plain text file with one row per slate in pieces of 16 MB. Floats without nulls,
//! also in lists, are decoded straight from Parquet's pages; the example `decode` compares with decoding alone.
//!
//! # Where things live
//!
//! The folders are the road of a file; `error` is for all of them:
//!
//! | | |
//! |---|---|
//! | `find` | which files there are, what format each has, and what tells it from others |
//! | `store` | the bytes of objects in buckets and on web servers |
//! | `formats` | a file of any format, read as record batches of the columns chosen |
//! | `parquet`, `csv`, `json`, `ipc` | the formats; `parquet` by way of the crate `parquet-floats` |
//! | `columns` | what the user calls the columns, where a schema has them, and whether files make one log |
//! | `slates` | the values of a batch as numbers and labels, put together into slates, added to a summary |
//! | `survey` | what is noticed of a log beside its sums, such as rows that are alike |
//! | `plan` | a whole log: its tasks, the threads that run them, the summaries merged in order |

mod columns;
mod csv;
mod error;
mod find;
mod formats;
mod ipc;
mod json;
mod parquet;
mod plan;
mod slates;
#[cfg(feature = "object-store")]
mod store;
#[cfg(not(feature = "object-store"))]
#[path = "no_store.rs"]
mod store;
mod survey;

/// Whether this build reads from object storage.
pub const READS_OBJECTS: bool = cfg!(feature = "object-store");

pub use columns::{
    ColumnRole, ColumnUse, Columns, Description, Named, Names, Overlap, RowFormat, Source, TargetColumns,
};
pub use error::{
    CheckpointFault, ColumnContent, Error, Likeness, OnBad, OnUnknown, RemoteError, RemoteFault, Result, RowFault,
    TableFormat, Tolerance, name_of, shown_path,
};
pub use find::Location;
pub use plan::{Batches, Checkpoints, Log, Progress, Record, Task, partial, provenance};
pub use survey::{AlikeRows, Suspicion};
