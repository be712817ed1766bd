//! How JSON is laid out: indented, with each array of numbers on one line.

/// Puts the numbers of each array on one line, in JSON with a line for each value. Strings hold no line breaks there.
pub(crate) fn numbers_on_one_line(pretty: &str) -> String {
    let lines: Vec<&str> = pretty.lines().collect();
    let is_number = |line: &&&str| {
        let value = line.trim();
        value.trim_end_matches(',') == "null" || value.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    };
    let mut out = String::with_capacity(pretty.len());
    let mut rest = lines.as_slice();
    while let [line, after @ ..] = rest {
        out.push_str(line);
        rest = after;
        let numbers = if line.ends_with('[') { after.iter().take_while(is_number).count() } else { 0 };
        if let Some(end) = after.get(numbers).filter(|end| numbers > 0 && end.trim_start().starts_with(']')) {
            let values: Vec<&str> = after[..numbers].iter().map(|value| value.trim()).collect();
            out.push_str(&values.join(" "));
            out.push_str(end.trim_start());
            rest = &after[numbers + 1..];
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::numbers_on_one_line;

    fn text(value: &Value) -> String {
        numbers_on_one_line(&format!("{value:#}"))
    }

    #[test]
    fn numbers_stand_on_one_line_and_everything_else_is_indented() {
        let value =
            json!({"a": [1, 2.5, null], "b": [], "c": [{"d": [null, 1]}, {}], "e": ["x", "y"], "f": [[1], [-2]]});
        let expected = "{\n  \"a\": [1, 2.5, null],\n  \"b\": [],\n  \"c\": [\n    {\n      \"d\": [null, 1]\n    },\n    {}\n  ],\
                        \n  \"e\": [\n    \"x\",\n    \"y\"\n  ],\n  \"f\": [\n    [1],\n    [-2]\n  ]\n}\n";
        assert_eq!(text(&value), expected);
    }

    #[test]
    fn mixed_arrays_stay_json() {
        for value in [json!([1, "x", {"a": [true, 1]}, [2, [3]]]), json!([[], {}]), json!([null]), json!("[\n1\n]")] {
            assert_eq!(serde_json::from_str::<Value>(&text(&value)).ok(), Some(value));
        }
    }
}
