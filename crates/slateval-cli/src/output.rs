//! Results on standard output or in files.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use slateval::{Evaluation, Profile, Settings, Summary, command_line};
use slateval_logs::{Record, name_of, shown_path};
use slateval_report::{CdfPoints, Detail, Look, Report, Style, Voice, html, write_cdf, write_plot, write_whole};

use crate::args::Output;
use crate::closed_output;
use crate::notes;

impl Output {
    /// Whether anything is to be shown or written.
    pub(crate) fn is_asked_for(&self) -> bool {
        let Output { full, json, full_cdf: _, report, plot, cdf } = self;
        *full || [json, report, plot, cdf].into_iter().any(Option::is_some)
    }

    /// The files to be written, with the flags that ask for them.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        let json = json_file(&self.json);
        let others = [("--report", &self.report), ("--plot", &self.plot), ("--cdf", &self.cdf)];
        json.into_iter().chain(others.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)))).collect()
    }
}

/// Whether JSON takes the place of the text on standard output.
pub(crate) fn prints_json(json: &Option<PathBuf>) -> bool {
    json.as_deref().is_some_and(|path| path.as_os_str() == "-")
}

/// The file that JSON is written to, with its flag.
pub(crate) fn json_file(json: &Option<PathBuf>) -> Option<(&'static str, &Path)> {
    json.as_deref().filter(|_| !prints_json(json)).map(|path| ("--json", path))
}

/// Writes JSON where it is asked for, and prints the text unless the JSON takes its place.
pub(crate) fn print_or_json(
    asked: &Option<PathBuf>,
    json: impl FnOnce() -> Result<String>,
    text: impl FnOnce() -> String,
) -> Result<()> {
    if prints_json(asked) {
        return print(&json()?);
    }
    if let Some(path) = asked {
        write_bytes(path, json()?.as_bytes())?;
    }
    print(&text())
}

/// What a flag's file may end in.
fn endings(flag: &str) -> &'static [&'static str] {
    match flag {
        "--cdf" => &["parquet", "csv"],
        "--report" => &["html", "htm"],
        "--plot" => &["svg", "png"],
        _ => &[],
    }
}

/// Refuses names that could not be written or that would destroy an input, before an hour is spent on the log.
pub(crate) fn check(outputs: &[(&'static str, &Path)], inputs: &[PathBuf]) -> Result<()> {
    let inputs: Vec<PathBuf> = inputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for &(flag, path) in outputs {
        let shown = shown_path(path);
        if path.to_str().is_some_and(|path| path.contains("://")) {
            bail!("{flag} {shown}: results are written to local files only; write one, then upload it");
        }
        let (known, own) = (endings(flag), path.extension().and_then(|e| e.to_str()).unwrap_or_default());
        if !known.is_empty() && !known.iter().any(|ending| ending.eq_ignore_ascii_case(own)) {
            bail!("{flag} {shown}: the name must end in .{}", known.join(" or ."));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            bail!("{flag} {shown}: there is no directory {}", shown_path(folder));
        }
        let whole = whole(path);
        if inputs.contains(&whole) {
            bail!("{flag} {shown}: this would overwrite the log; choose another name");
        }
        let is_file = path.metadata().map_or(true, |m| m.is_file());
        if let Some((other, _)) = seen.iter().find(|(_, known)| is_file && *known == whole) {
            bail!("{flag} {shown}: {other} writes to the same file; choose another name");
        }
        if let Err(error) = slateval_files::check_writable(path) {
            bail!("{flag} {shown}: cannot be written to: {error}; choose another place or name");
        }
        seen.push((flag, whole));
    }
    Ok(())
}

/// Where a file is or will be, however its name is written.
fn whole(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let new = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(new).unwrap_or_else(|| path.to_owned())
}

/// Writes the files that were asked for, and the table or the JSON to standard output. A file that cannot be written
/// keeps nobody from seeing the result.
pub(crate) fn show(
    summary: &Summary,
    evaluation: &Evaluation,
    settings: &Settings,
    record: &Record,
    output: &Output,
) -> Result<()> {
    let pictures = write_pictures(summary, evaluation, settings, record, output);
    let cdf = output.cdf.as_ref().map_or(Ok(()), |path| Ok(write_cdf(evaluation, path)?));
    let points = if output.full_cdf { CdfPoints::Every } else { CdfPoints::Thinned };
    let json = || -> Result<String> { Ok(slateval_report::json(evaluation, record, Voice::CommandLine, points)?) };
    let (written, shown) = match &output.json {
        path if prints_json(path) => {
            slateval_report::warnings(evaluation, Look::default()).iter().for_each(|warning| notes::warn(warning));
            (Ok(()), json().and_then(|json| print(&json)))
        }
        path => {
            let detail = if output.full { Detail::Full } else { Detail::Short };
            let table = slateval_report::table(evaluation, settings, Look { detail, ..look() }) + "\n";
            let write = |path: &PathBuf| write_bytes(path, json()?.as_bytes());
            let written = path.as_ref().map_or(Ok(()), write);
            (written, print(&table))
        }
    };
    all([pictures, cdf, written, shown])
}

/// The failures among several things that were all tried, in one message.
pub(crate) fn all(results: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let (pipes, mut failures): (Vec<_>, Vec<_>) = results.into_iter().filter_map(Result::err).partition(is_broken_pipe);
    match failures.len() {
        0 => pipes.into_iter().next().map_or(Ok(()), Err),
        1 => Err(failures.remove(0)),
        _ => bail!("{}", failures.iter().map(|failure| format!("{failure:#}")).collect::<Vec<_>>().join("; ")),
    }
}

/// The page and the plot, which show more levels than were asked for.
fn write_pictures(
    summary: &Summary,
    evaluation: &Evaluation,
    settings: &Settings,
    record: &Record,
    output: &Output,
) -> Result<()> {
    if output.report.is_none() && output.plot.is_none() {
        return Ok(());
    }
    let profile = &summary.profile(&Profile::levels(settings), settings)?;
    let command = &command();
    let report = Report { evaluation, profile, settings, record, command, voice: Voice::CommandLine };
    // Both are made before either is written.
    let page = output.report.as_ref().map(|path| Ok::<_, anyhow::Error>((path, html(&report)?))).transpose()?;
    if let Some(path) = &output.plot {
        write_plot(evaluation, profile, settings, path)?;
    }
    page.map_or(Ok(()), |(path, page)| write_bytes(path, page.as_bytes()))
}

/// The command line as one would type it again, without the secrets of addresses.
pub(crate) fn command() -> String {
    command_line(std::env::args_os().skip(1).map(|word| name_of(Path::new(&word))))
}

/// What the reader's terminal can show.
pub(crate) fn look() -> Look {
    let coloured = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = if coloured { Style::Colour } else { Style::Plain };
    Look { style, voice: Voice::CommandLine, detail: Detail::Full }
}

pub(crate) fn write_summary(summary: &Summary, path: &Path) -> Result<()> {
    write_bytes(path, &summary.to_bytes())
}

pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |source| slateval_report::Error::Write { path: path.display().to_string(), source };
    Ok(write_whole(path, |file| file.write_all(bytes).map_err(failed))?)
}

/// A whole number grouped by thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// So many of something: `1 file`, `1,200 files`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// The first files, and how many more there are.
pub(crate) fn names(files: &[PathBuf]) -> String {
    let first: Vec<String> = files.iter().take(3).map(|file| shown_path(file)).collect();
    match files.len() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Said where standard output does not take a result.
pub(crate) const NOT_WRITTEN: &str = "cannot write to standard output";

/// Refuses a standard output that is closed. Commands that take long look before they begin.
pub(crate) fn check_standard_output() -> Result<()> {
    if closed_output::is_lost() {
        bail!("{NOT_WRITTEN}: it is closed; send it to a file, or to /dev/null if the result is not needed");
    }
    Ok(())
}

pub(crate) fn print(text: &str) -> Result<()> {
    check_standard_output()?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(NOT_WRITTEN)
}

/// A reader that closed the pipe has seen enough: no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::check;

    #[test]
    fn one_file_is_written_once_however_it_is_named() {
        let same = [("--report", Path::new("no-such.html")), ("--save", Path::new("./no-such.html"))];
        assert!(check(&same, &[]).is_err_and(|error| error.to_string().contains("same file")));
        let other = [("--report", Path::new("no-such.HTML")), ("--save", Path::new("./other.html"))];
        assert!(check(&other, &[]).is_ok());
    }
}
