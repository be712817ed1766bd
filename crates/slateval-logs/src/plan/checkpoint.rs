//! How far a log has been read, as bytes: the sums of the units that come first in the plan. Whoever has them can go on
//! from there, with the same result to the last bit.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `SLATEWRK` |
//! | 4 | version, little-endian as all numbers |
//! | 8 | length of the header |
//! | … | header: JSON with the plan, the settings, and how many units are done |
//! | … | the summary of all tasks done, and that of the task which is done in part |
//! | 4 | CRC-32 of all that precedes |

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use slateval::Summary;

use crate::error::{CheckpointFault, Error, Result};
use crate::plan::plan_differences::{PlannedLog, file_differences, setting_differences};
use crate::slates::Base;

const MAGIC: &[u8; 8] = b"SLATEWRK";
const VERSION: u32 = 3;
const PREAMBLE: usize = MAGIC.len() + 4 + 8;
const CHECKSUM: usize = 4;

/// A checkpoint takes at most about a thirtieth of the time.
const COST: u32 = 30;

/// Where checkpoints of a reading go, and the one that it goes on from.
pub struct Checkpoints<'a> {
    /// Everything that was asked for, an object of JSON. A checkpoint of a reading for something else is refused.
    pub settings: Value,
    /// The last checkpoint of an earlier reading.
    pub found: Option<Vec<u8>>,
    /// Keeps a checkpoint, whole or not at all.
    pub keep: &'a (dyn Fn(&[u8]) -> std::io::Result<()> + Sync),
}

impl std::fmt::Debug for Checkpoints<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoints").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// The sums so far.
#[derive(Debug)]
pub(crate) struct Merged {
    /// Units merged.
    pub(crate) units: usize,
    /// All tasks that are done.
    pub(crate) total: Summary,
    /// The units so far of a task that has more.
    pub(crate) task: Option<Summary>,
    /// Rows of these units in the file, bad ones included.
    pub(crate) task_rows: u64,
    /// That of the first file that has one.
    pub(crate) base: Option<Base>,
}

impl Merged {
    pub(crate) fn nothing(total: Summary) -> Self {
        Merged { units: 0, total, task: None, task_rows: 0, base: None }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.total.rows() + self.task.as_ref().map_or(0, Summary::rows)
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    schema: String,
    settings: Value,
    plan: PlannedLog,
    units: usize,
    /// Bytes of the summaries.
    total: usize,
    task: Option<usize>,
    task_rows: u64,
    base: Option<Base>,
}

/// Decides when a checkpoint is due, and keeps it.
pub(crate) struct Keeper<'a> {
    checkpoints: &'a Checkpoints<'a>,
    plan: PlannedLog,
    began: Instant,
    last: Instant,
    cost: Duration,
    units: usize,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(checkpoints: &'a Checkpoints<'a>, plan: PlannedLog) -> Self {
        let now = Instant::now();
        Keeper { checkpoints, plan, began: now, last: now, cost: Duration::ZERO, units: 0 }
    }

    /// What an earlier reading left, if it was of the same files for the same question.
    pub(crate) fn found(&mut self) -> Result<Option<Merged>> {
        let Some(bytes) = &self.checkpoints.found else { return Ok(None) };
        let (header, body) = open(bytes)?;
        let header: Value = serde_json::from_slice(header).map_err(|_| CheckpointFault::Damaged)?;
        let header: Header = serde_json::from_value(redacted(header)).map_err(|_| CheckpointFault::Damaged)?;
        let mut differences = setting_differences(&header.settings, &as_read(&self.checkpoints.settings));
        differences.extend(file_differences(&header.plan, &self.plan));
        if !differences.is_empty() {
            return Err(CheckpointFault::Differs(differences).into());
        }
        let done = header.done(body)?;
        self.units = done.units;
        Ok(Some(done))
    }

    /// Keeps a checkpoint if it is time: often at first, at most every ten seconds later, and never so often that
    /// it costs more than a small part of the time.
    pub(crate) fn keep_if_due(&mut self, done: &Merged) -> Result<()> {
        let pause = (self.began.elapsed() / 50).min(Duration::from_secs(10)).max(self.cost * COST);
        if self.last.elapsed() < pause { Ok(()) } else { self.keep(done) }
    }

    /// Keeps a checkpoint, unless this one is kept already.
    pub(crate) fn keep(&mut self, done: &Merged) -> Result<()> {
        if done.units == self.units {
            return Ok(());
        }
        let start = Instant::now();
        let bytes = to_bytes(&self.checkpoints.settings, &self.plan, done);
        (self.checkpoints.keep)(&bytes).map_err(|error| CheckpointFault::NotKept(error.to_string()))?;
        (self.units, self.last, self.cost) = (done.units, Instant::now(), start.elapsed());
        Ok(())
    }
}

/// A header without the secrets that those of before have in names.
fn redacted(header: Value) -> Value {
    match header {
        Value::String(text) => Value::String(slateval::redacted(&text).into_owned()),
        Value::Array(values) => values.into_iter().map(redacted).collect(),
        Value::Object(values) => values.into_iter().map(|(name, value)| (name, redacted(value))).collect(),
        other => other,
    }
}

/// Settings as they come back from a file: numbers may lose their last bit on the way.
fn as_read(settings: &Value) -> Value {
    serde_json::from_str(&settings.to_string()).unwrap_or_default()
}

fn to_bytes(settings: &Value, plan: &PlannedLog, done: &Merged) -> Vec<u8> {
    let (total, task) = (done.total.to_bytes(), done.task.as_ref().map(Summary::to_bytes));
    let header = Header {
        schema: format!("slateval/work/{VERSION}"),
        settings: settings.clone(),
        plan: plan.clone(),
        units: done.units,
        total: total.len(),
        task: task.as_ref().map(Vec::len),
        task_rows: done.task_rows,
        base: done.base.clone(),
    };
    // Strings, integers and what is JSON already: nothing that JSON cannot hold.
    let header = serde_json::to_vec(&header).unwrap_or_default();
    let mut bytes = [MAGIC.as_slice(), &VERSION.to_le_bytes(), &(header.len() as u64).to_le_bytes(), &header].concat();
    bytes.extend(total);
    bytes.extend(task.into_iter().flatten());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// Checks everything that does not need the header, and cuts it out.
fn open(bytes: &[u8]) -> std::result::Result<(&[u8], &[u8]), CheckpointFault> {
    if !bytes.starts_with(MAGIC) {
        return Err(CheckpointFault::SomethingElse);
    }
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or(CheckpointFault::Damaged)?;
    if content.len() < PREAMBLE || crc32fast::hash(content).to_le_bytes() != *checksum {
        return Err(CheckpointFault::Damaged);
    }
    let version = u32::from_le_bytes(content[8..12].try_into().unwrap_or_default());
    if version != VERSION {
        return Err(CheckpointFault::OtherVersion(version));
    }
    let length = u64::from_le_bytes(content[12..PREAMBLE].try_into().unwrap_or_default());
    let body = &content[PREAMBLE..];
    let length = usize::try_from(length).ok().filter(|&length| length <= body.len());
    Ok(body.split_at(length.ok_or(CheckpointFault::Damaged)?))
}

impl Header {
    fn done(self, body: &[u8]) -> Result<Merged> {
        let (total, task) = body.split_at_checked(self.total).ok_or(CheckpointFault::Damaged)?;
        if task.len() != self.task.unwrap_or(0) {
            return Err(CheckpointFault::Damaged.into());
        }
        let task = self.task.map(|_| Summary::from_bytes(task)).transpose()?;
        Ok(Merged {
            units: self.units,
            total: Summary::from_bytes(total)?,
            task,
            task_rows: self.task_rows,
            base: self.base,
        })
    }
}

impl From<CheckpointFault> for Error {
    fn from(fault: CheckpointFault) -> Self {
        Error::Checkpoint(Box::new(fault))
    }
}
