//! Results on standard output or in files.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Result, bail};
use slateval::{Evaluation, Summary};
use slateval_report::{Style, write_cdf, write_whole};

use crate::args::Output;
use crate::settings::Record;

impl Output {
    /// Refuses names that could not be written, before an hour is spent on the log.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(path) = &self.cdf {
            let ending = path.extension().and_then(|e| e.to_str());
            if !matches!(ending, Some("parquet" | "csv")) {
                bail!("--cdf {}: the name must end in .parquet or .csv", path.display());
            }
        }
        for path in self.json.iter().chain(&self.cdf).filter(|path| path.as_os_str() != "-") {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                bail!("{}: there is no directory {}", path.display(), folder.display());
            }
        }
        Ok(())
    }
}

/// Writes the files that were asked for, and the table or the JSON to standard output.
pub(crate) fn show(evaluation: &Evaluation, record: &Record, output: &Output) -> Result<()> {
    if let Some(path) = &output.cdf {
        write_cdf(evaluation, path)?;
    }
    match &output.json {
        Some(path) if path.as_os_str() == "-" => return print(&slateval_report::json(evaluation, record)?),
        Some(path) => {
            let json = slateval_report::json(evaluation, record)?;
            write_bytes(path, json.as_bytes())?;
        }
        None => {}
    }
    let coloured = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = if coloured { Style::Colour } else { Style::Plain };
    print(&(slateval_report::table(evaluation, style) + "\n"))
}

pub(crate) fn write_summary(summary: &Summary, path: &Path) -> Result<()> {
    write_bytes(path, &summary.to_bytes())
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |source| slateval_report::Error::Write { path: path.display().to_string(), source };
    Ok(write_whole(path, |file| file.write_all(bytes).map_err(failed))?)
}

fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// A reader that closed the pipe has seen enough: no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
