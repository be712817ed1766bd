//! From paths, directories and patterns to a list of files in a fixed order.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use slateval::Segment;

use crate::error::{Error, Result, TableFormat, shown_path};
use crate::find::address::{Address, Remote, decode};
use crate::find::candidates::{By, Candidates};
use crate::find::detect::{Format, STDIN};
use crate::find::location::Location;
use crate::find::place::Place;
use crate::store;

/// Directories nested deeper than this are a loop of links.
const DEPTH: usize = 64;

/// All files that the paths and addresses stand for: as given, and what is inside a directory or fits a pattern in the
/// order of names. Whether files of directories are logs is still to be found out. Objects that can only be fetched as a
/// whole may take `memory` bytes together.
pub(crate) fn files(given: &[Location], memory: u64) -> Result<Candidates> {
    let addresses: Vec<Address> = given.iter().map(Address::of).collect::<std::result::Result<_, _>>()?;
    let remotes: Vec<Remote> = addresses.iter().filter_map(Address::remote).cloned().collect();
    let mut objects = store::find(&remotes, memory)?.into_iter();
    let mut found = Found::default();
    for address in &addresses {
        match address {
            Address::Local(path) => expand(path, &mut found)?,
            Address::Remote(remote) => {
                let objects = objects.next().transpose()?.unwrap_or_default();
                let place = |(object, by)| (Place::Object(object), by);
                found.candidates.add(remote.shown(), objects.into_iter().map(place));
            }
        }
    }
    Ok(found.candidates)
}

/// What was found so far.
#[derive(Debug, Default)]
struct Found {
    candidates: Candidates,
    /// Directories that were searched, by what they are, whatever link leads there.
    directories: HashMap<PathBuf, PathBuf>,
}

impl Found {
    /// Takes a file.
    fn push(&mut self, path: PathBuf) -> Result<()> {
        check_file(&path)?;
        self.candidates.add(path.clone(), [(path.into(), By::Name)]);
        Ok(())
    }

    /// Refuses a directory that was searched already: links may lead in circles.
    fn enter(&mut self, directory: &Path) -> Result<()> {
        let real = fs::canonicalize(directory).map_err(|e| Error::unreadable(directory, "directory", e))?;
        match self.directories.insert(real, directory.into()) {
            Some(other) => {
                let what = "its files would count twice: remove the link, or name the files to be read";
                let other = shown_path(&other);
                Err(Error::refused(directory, format!("the same directory as {other}, through a link; {what}")))
            }
            None => Ok(()),
        }
    }
}

fn expand(path: &Path, found: &mut Found) -> Result<()> {
    if path == Path::new(STDIN) {
        found.candidates.add(path.into(), [(path.to_path_buf().into(), By::Name)]);
        return Ok(());
    }
    if path.is_dir() {
        return walk_all(path, found);
    }
    if path.exists() {
        return found.push(path.into());
    }
    let Some(given) = path.to_str().filter(|given| given.contains(['*', '?', '['])) else {
        return Err(Error::NoSuchFile { path: path.into() });
    };
    let matches = glob::glob(given).map_err(|e| Error::bad_pattern(given, e))?;
    let mut matches: Vec<PathBuf> = matches.collect::<Result<_, _>>().map_err(|e| Error::bad_pattern(given, e))?;
    matches.retain(|path| !hides(given, path));
    matches.sort();
    if matches.is_empty() {
        return Err(Error::NoMatch { pattern: given.into() });
    }
    let folders: BTreeSet<&Path> = matches.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    folders.into_iter().try_for_each(refuse_table)?;
    for path in matches {
        if path.is_dir() { walk_all(&path, found)? } else { found.push(path)? }
    }
    Ok(())
}

/// `_SUCCESS`, `_delta_log`, `.crc`: what engines leave beside the data.
pub(crate) fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_none_or(|name| name.as_encoded_bytes().starts_with(b"_") || name.as_encoded_bytes().starts_with(b"."))
}

/// Whether something is hidden that a pattern's wildcards stand for. What the pattern spells out is wanted.
pub(crate) fn hides(pattern: &str, path: &Path) -> bool {
    let spelled = |name: &OsStr| pattern.split('/').any(|part| OsStr::new(part) == name);
    let fixed: PathBuf = Path::new(pattern).components().take_while(|part| !has_wildcard(part)).collect();
    let below = path.strip_prefix(fixed).unwrap_or(path);
    below.iter().any(|name| is_hidden(Path::new(name)) && !spelled(name) && name != ".." && name != ".")
}

fn has_wildcard(part: &Component<'_>) -> bool {
    part.as_os_str().to_string_lossy().contains(['*', '?', '['])
}

/// Refuses the folder of a table whose own log says which files and rows count.
fn refuse_table(folder: &Path) -> Result<()> {
    let table = |format| Err(Error::table(folder, format));
    if folder.join(TableFormat::DeltaLake.folder()).is_dir() {
        return table(TableFormat::DeltaLake);
    }
    let entries = fs::read_dir(folder.join(TableFormat::Iceberg.folder())).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    if names.any(|name| name.to_string_lossy().ends_with(ICEBERG)) { table(TableFormat::Iceberg) } else { Ok(()) }
}

/// How the description of an Iceberg table is called.
pub(crate) const ICEBERG: &str = ".metadata.json";

/// Refuses what is no file: a pipe would be waited for, and cannot be read twice.
fn check_file(path: &Path) -> Result<()> {
    match fs::metadata(path).is_ok_and(|file| !file.is_file()) {
        true => {
            let what = "neither a file nor a directory; to read a stream, pipe it in as Arrow IPC and read `-`";
            Err(Error::refused(path, what))
        }
        false => Ok(()),
    }
}

fn walk_all(directory: &Path, found: &mut Found) -> Result<()> {
    let mut files = Vec::new();
    walk(directory, 0, found, &mut files)?;
    found.candidates.add(directory.into(), files.into_iter().map(|path| (Place::Local(path), By::Directory)));
    Ok(())
}

fn walk(directory: &Path, depth: usize, found: &mut Found, files: &mut Vec<PathBuf>) -> Result<()> {
    let unreadable = |e: std::io::Error| Error::unreadable(directory, "directory", e);
    if depth > DEPTH {
        return Err(Error::unreadable(directory, "directory", "it is nested too deep"));
    }
    found.enter(directory)?;
    refuse_table(directory)?;
    let entries = fs::read_dir(directory).map_err(unreadable)?;
    let mut paths = entries.map(|e| e.map(|e| e.path())).collect::<std::io::Result<Vec<_>>>().map_err(unreadable)?;
    paths.sort();
    for path in paths {
        if is_hidden(&path) {
            continue;
        }
        if path.is_dir() {
            walk(&path, depth + 1, found, files)?;
            continue;
        }
        if Format::of_name(&path).is_some() {
            check_file(&path)?;
        }
        files.push(path);
    }
    Ok(())
}

/// The columns that a file's directories spell out, `country=DE/day=3`, each value as text or null.
fn keys_of(path: &Path) -> Vec<(String, Option<String>)> {
    let directories = path.parent().into_iter().flat_map(Path::components);
    let names = directories.filter_map(|c| match c {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let pairs = names.filter_map(|n| n.split_once('=')).filter(|(key, _)| !key.is_empty());
    pairs.map(|(key, value)| (decode(key), (value != "__HIVE_DEFAULT_PARTITION__").then(|| decode(value)))).collect()
}

/// The columns that directories spell out, for every file. A column is of whole numbers if every value is one.
pub(crate) fn partitions(files: &[Place]) -> Vec<Vec<(String, Segment)>> {
    let keys: Vec<Vec<(String, Option<String>)>> = files.iter().map(|file| keys_of(file.path())).collect();
    let is_text = |value: &Option<String>| value.as_ref().is_some_and(|v| v.parse::<i64>().is_err());
    let texts: HashSet<&String> = keys.iter().flatten().filter(|(_, v)| is_text(v)).map(|(k, _)| k).collect();
    let segment = |key: &String, value: &Option<String>| match value {
        None => Segment::Null,
        Some(v) if texts.contains(key) => Segment::Text(v.clone()),
        Some(v) => v.parse().map_or(Segment::Null, Segment::Int),
    };
    keys.iter().map(|file| file.iter().map(|(k, v)| (k.clone(), segment(k, v))).collect()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_whole_numbers_only_if_all_are() {
        let paths = ["x/day=1/c=a%20b/f.csv", "x/day=02/c=7/f.csv", "x/day=3/c=__HIVE_DEFAULT_PARTITION__/f.csv"];
        let paths: Vec<Place> = paths.iter().map(|path| PathBuf::from(path).into()).collect();
        let found = partitions(&paths);
        assert_eq!(found[0], [("day".into(), Segment::Int(1)), ("c".into(), Segment::Text("a b".into()))]);
        assert_eq!(found[1], [("day".into(), Segment::Int(2)), ("c".into(), Segment::Text("7".into()))]);
        assert_eq!(found[2][1], ("c".into(), Segment::Null));
    }
}
