//! Results on standard output or in files.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use slateval::{Evaluation, Summary};
use slateval_report::{Style, write_cdf, write_whole};

use crate::args::Output;
use crate::settings::Record;

impl Output {
    /// The files to be written, with the flags that ask for them.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        let json = self.json.as_deref().filter(|path| path.as_os_str() != "-").map(|path| ("--json", path));
        json.into_iter().chain(self.cdf.as_deref().map(|path| ("--cdf", path))).collect()
    }
}

/// Refuses names that could not be written or that would destroy an input, before an hour is spent on the log.
pub(crate) fn check(outputs: &[(&'static str, &Path)], inputs: &[PathBuf]) -> Result<()> {
    let inputs: Vec<PathBuf> = inputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for &(flag, path) in outputs {
        let shown = path.display();
        if flag == "--cdf" && !matches!(path.extension().and_then(|e| e.to_str()), Some("parquet" | "csv")) {
            bail!("--cdf {shown}: the name must end in .parquet or .csv");
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            bail!("{flag} {shown}: there is no directory {}", folder.display());
        }
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if inputs.contains(&whole) {
            bail!("{flag} {shown}: this would overwrite the log; choose another name");
        }
        let is_file = path.metadata().map_or(true, |m| m.is_file());
        if let Some((other, _)) = seen.iter().find(|(_, known)| is_file && *known == whole) {
            bail!("{flag} {shown}: {other} writes to the same file; choose another name");
        }
        seen.push((flag, whole));
    }
    Ok(())
}

/// Writes the files that were asked for, and the table or the JSON to standard output.
pub(crate) fn show(evaluation: &Evaluation, record: &Record, output: &Output) -> Result<()> {
    if let Some(path) = &output.cdf {
        write_cdf(evaluation, path)?;
    }
    match &output.json {
        Some(path) if path.as_os_str() == "-" => {
            for warning in slateval_report::warnings(evaluation, Style::Plain) {
                eprintln!("{warning}");
            }
            return print(&slateval_report::json(evaluation, record)?);
        }
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

pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// A reader that closed the pipe has seen enough: no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
