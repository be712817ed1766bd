//! The folders of the crate are the road of a row: each imports only from those before it.

use std::fs;
use std::path::{Path, PathBuf};

const ROAD: [&str; 12] = [
    "math",
    "question",
    "answer",
    "rows",
    "summary",
    "accumulate",
    "estimate",
    "uncertainty",
    "checks",
    "order",
    "evaluate",
    "slates",
];

#[test]
fn every_folder_imports_only_from_those_before_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = files_below(&source);
    assert!(files.len() > 40, "the sources are where this test looks for them: {}", source.display());
    let against: Vec<String> = files.iter().flat_map(|file| against_the_road(&source, file)).collect();
    assert!(against.is_empty(), "imports against the road {}:\n{}", ROAD.join(" → "), against.join("\n"));
}

#[test]
fn an_upward_import_is_found() {
    let place = |folder: &str| ROAD.iter().position(|f| *f == folder);
    let upward = |own: &str, line: &str| folders_named(line).iter().any(|folder| place(folder) > place(own));
    assert!(upward("summary", "use crate::estimate::design::Worth;"));
    assert!(upward("summary", "    let x = crate::evaluate::evaluate_cell(a);"));
    assert!(!upward("evaluate", "use crate::summary::Summary;"));
    assert!(!upward("estimate", "/// See [`evaluate`](crate::Summary::evaluate)."));
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { panic!("{} can be read", folder.display()) };
    let paths = entries.flatten().map(|entry| entry.path());
    let of = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    paths.flat_map(of).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

fn against_the_road(source: &Path, file: &Path) -> Vec<String> {
    let Ok(inside) = file.strip_prefix(source) else { panic!("{} lies below the sources", file.display()) };
    let own = inside.iter().next().and_then(|folder| folder.to_str()).unwrap_or_default();
    let Some(own) = ROAD.iter().position(|folder| *folder == own) else {
        assert_eq!(own, "lib.rs", "{} is in no folder of the road", inside.display());
        return Vec::new();
    };
    let Ok(text) = fs::read_to_string(file) else { panic!("{} can be read", file.display()) };
    let upward = |(number, line): (usize, &str)| {
        let later = folders_named(line).into_iter().find(|folder| ROAD[own + 1..].contains(folder))?;
        Some(format!("{}:{}: `{later}` comes after `{}`: {}", inside.display(), number + 1, ROAD[own], line.trim()))
    };
    text.lines().enumerate().filter_map(upward).collect()
}

/// The folders that a line of code names as `crate::folder`.
fn folders_named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    assert!(!code.contains("crate::{"), "one line for each folder, so that this test can read it: {line}");
    assert!(
        !code.split("crate::").skip(1).any(|path| path.starts_with(char::is_uppercase))
            && !code.contains("super::super"),
        "name the folder, so that this test can read it: {line}"
    );
    let end = |path: &str| path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    code.split("crate::").skip(1).map(|path| &path[..end(path)]).collect()
}
