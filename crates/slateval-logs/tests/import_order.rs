//! The folders of `src` are the road of a file, and each uses only those before it.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// In the order of the crate's documentation. `error` is for all.
const ORDER: [&str; 6] = ["error", "survey", "formats", "columns", "rows", "reading"];

/// A path of the source that leads into a folder: `crate::rows` in `use crate::rows::Done`.
#[derive(Debug, PartialEq)]
struct Import {
    line: usize,
    path: String,
}

#[test]
fn folders_use_only_those_before_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for file in sources(&src) {
        let inside = file.strip_prefix(&src).unwrap();
        let Some(own) = folder(inside) else { continue };
        let source = fs::read_to_string(&file).unwrap();
        for Import { line, path } in imports(&source) {
            if !may_use(own, &path) {
                wrong.push(format!("src/{}:{line}: `{path}` from `{own}`", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "the order is {}; against it go\n{}", ORDER.join(", "), wrong.join("\n"));
}

#[test]
fn every_folder_has_its_place() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let homeless: Vec<PathBuf> =
        sources(&src).into_iter().filter(|f| folder(f.strip_prefix(&src).unwrap()).is_none()).collect();
    assert_eq!(homeless, [src.join("lib.rs")]);
}

/// The check is worth something only if it finds what it looks for.
#[test]
fn all_ways_to_write_an_import_are_found() {
    let source = "use crate::rows::Done;\n\
                  // use crate::reading::Log;\n\
                  use crate::{\n    columns::{Columns, Source},\n    reading,\n};\n\
                  fn f() -> super::super::rows::Done { crate::Log::open() }\n\
                  use super::*; use super::batches::{rows, BATCH};\n";
    let found: Vec<(usize, String)> = imports(source).into_iter().map(|i| (i.line, i.path)).collect();
    let wanted =
        [(1, "crate::rows"), (3, "crate::columns"), (3, "crate::reading"), (7, "super::rows"), (7, "crate::Log")];
    assert_eq!(found, wanted.map(|(line, path)| (line, path.to_owned())));
    assert!(may_use("reading", "crate::rows") && may_use("rows", "crate::rows") && may_use("formats", "crate::error"));
    assert!(!may_use("formats", "crate::rows") && !may_use("error", "crate::formats"));
    // What the crate hands out has its home in a folder, and is to be had from there.
    assert!(!may_use("reading", "crate::Log"));
}

fn may_use(own: &str, path: &str) -> bool {
    let place = |name: &str| ORDER.iter().position(|&known| known == step(name));
    let used = path.rsplit("::").next().and_then(place);
    used.is_some_and(|used| place(own).is_some_and(|own| used <= own))
}

/// `parquet` is one of the formats, in a folder of its own.
fn step(name: &str) -> &str {
    if name == "parquet" { "formats" } else { name }
}

/// The folder (or `error`) that a file of `src` belongs to.
fn folder(inside: &Path) -> Option<&'static str> {
    let first = inside.iter().next()?.to_str()?;
    ORDER.into_iter().find(|&name| name == step(first.trim_end_matches(".rs")))
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(sources(&path)),
            false if path.extension().is_some_and(|e| e == "rs") => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

/// Every `crate::name`, and every `super::name` where the name is a folder's, in the order of the source.
fn imports(source: &str) -> Vec<Import> {
    let code: Vec<&str> = source.lines().map(|line| line.split("//").next().unwrap()).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("::") {
        let Some(root) = ["crate", "super"].into_iter().find(|root| code[..at].ends_with(root)) else { continue };
        let line = 1 + code[..at].matches('\n').count();
        for name in names(&code[at + 2..]) {
            if name != "super" && (root == "crate" || ORDER.contains(&name)) {
                found.push(Import { line, path: format!("{root}::{name}") });
            }
        }
    }
    found
}

/// The name that a path goes on with, or all of them: `{columns::{Columns, Source}, reading}` goes on with two.
fn names(rest: &str) -> Vec<&str> {
    let name = |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    let Some(list) = rest.strip_prefix('{') else { return vec![&rest[..name(rest)]] };
    let (mut depth, mut expected, mut found) = (0, true, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => expected = true,
            c if expected && !c.is_whitespace() => {
                found.push(&list[at..at + name(&list[at..])]);
                expected = false;
            }
            _ => {}
        }
    }
    found
}
