//! How two readings differ: in their files, or in what was asked for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reading::tasks::Task;

/// A task as a checkpoint remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Planned {
    file: String,
    row_groups: Option<(usize, usize)>,
    bytes: u64,
    /// In hexadecimal digits: not every reader of JSON keeps numbers of 64 bits.
    fingerprint: String,
}

impl Planned {
    pub(crate) fn new(task: &Task) -> Self {
        let (bytes, fingerprint) = task.file_was.unwrap_or_default();
        Planned {
            file: task.file.display().to_string(),
            row_groups: task.row_groups.as_ref().map(|groups| (groups.start, groups.end)),
            bytes,
            fingerprint: format!("{fingerprint:016x}"),
        }
    }
}

/// How the files of a log differ from those of an earlier reading.
pub(crate) fn file_differences(before: &[Planned], now: &[Planned]) -> Vec<String> {
    if before == now {
        return Vec::new();
    }
    let by_name = |plan: &[Planned]| -> BTreeMap<String, (u64, String)> {
        plan.iter().map(|task| (task.file.clone(), (task.bytes, task.fingerprint.clone()))).collect()
    };
    let (old, new) = (by_name(before), by_name(now));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let difference = |name: &String| match (old.get(name), new.get(name)) {
        (Some(_), None) => Some(format!("{name} is no longer in the log")),
        (None, Some(_)) => Some(format!("{name} is new in the log")),
        (was, is) => (was != is).then(|| format!("{name} has other content")),
    };
    let found: Vec<String> = names.into_iter().filter_map(difference).collect();
    if found.is_empty() { vec!["the files come in another order".to_owned()] } else { found }
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

    fn planned(file: &str, bytes: u64) -> Planned {
        Planned { file: file.into(), row_groups: None, bytes, fingerprint: String::new() }
    }

    #[test]
    fn files_that_differ_are_named() {
        let before = [planned("a", 1), planned("b", 1), planned("c", 1)];
        let now = [planned("a", 1), planned("b", 2), planned("d", 1)];
        let found = file_differences(&before, &now);
        assert_eq!(found, ["b has other content", "c is no longer in the log", "d is new in the log"]);
        assert_eq!(file_differences(&before, &before), [""; 0]);
        let turned = [planned("b", 1), planned("a", 1), planned("c", 1)];
        assert_eq!(file_differences(&before, &turned), ["the files come in another order"]);
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
