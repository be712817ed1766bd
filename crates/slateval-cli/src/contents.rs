//! `slateval log`: what is in a summary, and how it came about.

use anyhow::Result;
use serde::Serialize;
use slateval::{Day, IgnoredFile, Skipped, Summary, shown};
use slateval_logs::shown_path;

use crate::args::Contents;
use crate::merge;
use crate::output::{self, counted, json_file, print_or_json};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    rows: u64,
    slots: Option<usize>,
    targets: Vec<&'a str>,
    structure: String,
    by: Option<&'a str>,
    cluster: Option<&'a str>,
    days: Vec<Day>,
    inputs: Vec<InputRecord>,
    skipped: Vec<SkippedRecord>,
    skipped_files: Vec<&'a str>,
    ignored: Vec<IgnoredFile>,
    ignored_files: u64,
    commands: &'a [String],
    reading: &'a [String],
}

/// A file.
#[derive(Serialize)]
struct InputRecord {
    name: String,
    day: Option<Day>,
    rows: u64,
    bytes: u64,
}

/// What was left out for one reason.
#[derive(Serialize)]
struct SkippedRecord {
    reason: &'static str,
    rows: u64,
    files: u64,
}

impl<'a> Document<'a> {
    fn new(summary: &'a Summary) -> Self {
        let (spec, history) = (summary.spec(), summary.history());
        Document {
            schema: "slateval/log/1",
            rows: summary.rows(),
            slots: summary.slots(),
            targets: spec.policies.iter().map(|policy| policy.name.as_str()).collect(),
            structure: spec.structure.to_string(),
            by: spec.by.as_deref(),
            cluster: spec.cluster.as_deref(),
            days: history.days.iter().copied().collect(),
            inputs: inputs(summary),
            skipped: summary.skipped().iter().map(SkippedRecord::new).collect(),
            skipped_files: summary.skipped_files().collect(),
            ignored: summary.ignored(),
            ignored_files: summary.ignored_files(),
            commands: &history.commands,
            reading: &history.reading,
        }
    }

    fn text(&self, path: &str) -> String {
        let mut text =
            format!("{path}: {} of {}", counted(self.rows, "slate"), counted(self.inputs.len() as u64, "file"));
        text += &match &self.days[..] {
            [] => String::new(),
            [day] => format!(", of {day}"),
            [first, .., last] => format!(", of {} from {first} to {last}", counted(self.days.len() as u64, "day")),
        };
        text += &format!("\ntargets: {}; structure: {}\n\n", shown(&self.targets.join(", ")), shown(&self.structure));
        text += &self.table();
        text += &self.left_out();
        text += &self.not_logs();
        if !self.commands.is_empty() {
            text += &format!(
                "\nmade by\n  {}\n",
                self.commands.iter().map(|command| shown(command)).collect::<Vec<_>>().join("\n  ")
            );
        }
        text
    }

    fn left_out(&self) -> String {
        let part = |part: &SkippedRecord| {
            let (rows, files) = (counted(part.rows, "row"), counted(part.files, "file"));
            let what = match (part.rows, part.files) {
                (_, 0) => rows,
                (0, _) => files,
                _ => format!("{files} with {rows}"),
            };
            format!("  {what}: {}\n", part.reason)
        };
        let file = |name: &&str| format!("    {}\n", shown(name));
        match self.skipped.is_empty() {
            true => String::new(),
            false => {
                let parts: String = self.skipped.iter().map(part).collect();
                let files: String = self.skipped_files.iter().map(file).collect();
                format!("\nbad and left out\n{parts}{files}")
            }
        }
    }

    fn not_logs(&self) -> String {
        let file = |file: &IgnoredFile| format!("    {file}\n");
        match self.ignored.is_empty() {
            true => String::new(),
            false => {
                let files: String = self.ignored.iter().map(file).collect();
                format!("\nno logs, and left out\n  {}\n{files}", counted(self.ignored_files, "file"))
            }
        }
    }

    fn table(&self) -> String {
        let day = |day: Option<Day>| day.map_or_else(|| "–".to_owned(), |day| day.to_string());
        let head = ["day", "rows", "bytes", "file"].map(str::to_owned);
        let row = |input: &InputRecord| {
            [day(input.day), output::grouped(input.rows), output::grouped(input.bytes), input.name.clone()]
        };
        let rows: Vec<[String; 4]> = std::iter::once(head).chain(self.inputs.iter().map(row)).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let [days, counts, sizes] = [0, 1, 2].map(width);
        let line = |[day, rows, bytes, file]: &[String; 4]| {
            format!(" {day:<days$}  {rows:>counts$}  {bytes:>sizes$}  {}\n", shown(file))
        };
        rows.iter().map(line).collect()
    }
}

impl SkippedRecord {
    fn new(skipped: &Skipped) -> Self {
        SkippedRecord { reason: skipped.reason.as_str(), rows: skipped.rows, files: skipped.files }
    }
}

/// Each file once, however many parts of it were read.
fn inputs(summary: &Summary) -> Vec<InputRecord> {
    let mut found: Vec<InputRecord> = Vec::new();
    for part in summary.inputs() {
        match found.last_mut() {
            Some(last) if part.row_groups.is_some() && (&last.name, last.bytes) == (&part.name, part.bytes) => {
                last.rows = last.rows.saturating_add(part.rows);
            }
            _ => {
                let (name, day) = (part.name.clone(), part.day);
                found.push(InputRecord { name, day, rows: part.rows, bytes: part.bytes });
            }
        }
    }
    found
}

pub(crate) fn run(arguments: &Contents) -> Result<()> {
    output::check(&Vec::from_iter(json_file(&arguments.json)), std::slice::from_ref(&arguments.summary))?;
    let summary = merge::read(&arguments.summary)?;
    let document = Document::new(&summary);
    let json = || anyhow::Ok(slateval_report::safe_json(&serde_json::to_string_pretty(&document)?) + "\n");
    print_or_json(&arguments.json, json, || document.text(&shown_path(&arguments.summary)))
}
