//! How two readings differ: in their files, or in what was asked for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::find::Identity;
use crate::plan::tasks::Task;

/// A log as a checkpoint remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedLog {
    pub(crate) tasks: Vec<Planned>,
    /// Files that could not be opened.
    pub(crate) left_out: Vec<String>,
}

/// A task as a checkpoint remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Planned {
    file: String,
    row_groups: Option<(usize, usize)>,
    bytes: u64,
    /// In hexadecimal digits: not every reader of JSON keeps numbers of 64 bits.
    fingerprint: String,
    /// When the file was last written to, in nanoseconds since 1970, as digits.
    modified: Option<String>,
}

impl Planned {
    pub(crate) fn new(task: &Task, identity: Option<&Identity>) -> Self {
        let (bytes, fingerprint) = task.file_was.unwrap_or_default();
        Planned {
            file: task.file.name(),
            row_groups: task.row_groups.as_ref().map(|groups| (groups.start, groups.end)),
            bytes,
            fingerprint: format!("{fingerprint:016x}"),
            modified: identity.and_then(Identity::modified).map(|time| time.to_string()),
        }
    }
}

/// How the files of a log differ from those of an earlier reading.
pub(crate) fn file_differences(before: &PlannedLog, now: &PlannedLog) -> Vec<String> {
    if before == now {
        return Vec::new();
    }
    let (old, new) = (before.states(), now.states());
    let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let difference = |name: &str| Some(format!("{name} {}", change(old.get(name).copied(), new.get(name).copied())?));
    let found: Vec<String> = names.into_iter().filter_map(difference).collect();
    if found.is_empty() { vec!["the files come in another order".to_owned()] } else { found }
}

/// A file of a log.
#[derive(Debug, Clone, Copy)]
enum State<'a> {
    Read(&'a Planned),
    LeftOut,
}

impl PlannedLog {
    /// Each file by name.
    fn states(&self) -> BTreeMap<&str, State<'_>> {
        let read = self.tasks.iter().map(|task| (task.file.as_str(), State::Read(task)));
        read.chain(self.left_out.iter().map(|name| (name.as_str(), State::LeftOut))).collect()
    }
}

/// What happened to a file since an earlier reading.
fn change(before: Option<State<'_>>, now: Option<State<'_>>) -> Option<&'static str> {
    match (before, now) {
        (None, _) => now.map(|_| "is new in the log"),
        (_, None) => Some("is no longer in the log"),
        (Some(State::LeftOut), Some(State::Read(_))) => Some("could not be read then, and can be now"),
        (Some(State::Read(_)), Some(State::LeftOut)) => Some("cannot be read any more"),
        (Some(State::LeftOut), Some(State::LeftOut)) => None,
        (Some(State::Read(was)), Some(State::Read(is))) => {
            if (was.bytes, &was.fingerprint) != (is.bytes, &is.fingerprint) {
                Some("has other content")
            } else {
                (was.modified != is.modified).then_some("has been written to since")
            }
        }
    }
}

/// How settings differ, by name.
pub(crate) fn setting_differences(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", before, now, &mut found);
    found
}

fn compare(name: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    let (Value::Object(old), Value::Object(new)) = (before, now) else {
        if before != now {
            found.push(format!("{name} was {before} and is {now}"));
        }
        return;
    };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in names {
        let of = |values: &serde_json::Map<String, Value>| values.get(key).cloned().unwrap_or(Value::Null);
        let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        compare(&name, &of(old), &of(new), found);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn planned(file: &str, bytes: u64, modified: &str) -> Planned {
        let (fingerprint, modified) = (String::new(), Some(modified.to_owned()));
        Planned { file: file.into(), row_groups: None, bytes, fingerprint, modified }
    }

    fn log(tasks: &[Planned], left_out: &[&str]) -> PlannedLog {
        PlannedLog { tasks: tasks.to_vec(), left_out: left_out.iter().map(|&name| name.into()).collect() }
    }

    #[test]
    fn files_that_differ_are_named() {
        let [a, b, c] = ["a", "b", "c"].map(|name| planned(name, 1, "0"));
        let before = log(&[a.clone(), b.clone(), c.clone()], &[]);
        let now = log(&[planned("a", 1, "9"), planned("b", 2, "9"), planned("d", 1, "0")], &[]);
        let wanted =
            ["a has been written to since", "b has other content", "c is no longer in the log", "d is new in the log"];
        assert_eq!(file_differences(&before, &now), wanted);
        assert_eq!(file_differences(&before, &before), [""; 0]);
        let turned = log(&[b.clone(), a.clone(), c.clone()], &[]);
        assert_eq!(file_differences(&before, &turned), ["the files come in another order"]);
        let (torn, mended) = (log(&[a, b.clone()], &["c"]), log(&[b, c], &["a"]));
        let wanted = ["a cannot be read any more", "c could not be read then, and can be now"];
        assert_eq!(file_differences(&torn, &mended), wanted);
    }

    #[test]
    fn settings_that_differ_are_named() {
        let before = json!({"alpha": [0.1], "log": {"reward": "clicks"}, "seed": 1});
        let now = json!({"alpha": [0.2], "log": {"reward": "sales"}, "seed": 1, "new": true});
        let wanted =
            ["alpha was [0.1] and is [0.2]", r#"log.reward was "clicks" and is "sales""#, "new was null and is true"];
        assert_eq!(setting_differences(&before, &now), wanted);
    }
}
