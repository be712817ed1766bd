//! How JSON is laid out: indented, with each array of numbers on one line.

use std::io::{Result, Write};

use serde_json::ser::Formatter;

/// Breaks lines as `serde_json`'s pretty printer does, except inside arrays that begin with a number or null.
#[derive(Debug, Default)]
pub(crate) struct NumbersOnOneLine {
    /// The arrays and objects around the current place.
    open: Vec<Lines>,
    /// Whether the next value is the first of its array: its kind decides how the array is laid out.
    undecided: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// Everything on the same line so far.
    One,
    /// A line for each value.
    Many,
}

impl NumbersOnOneLine {
    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> Result<()> {
        writer.write_all(b"\n")?;
        (0..self.open.len()).try_for_each(|_| writer.write_all(b"  "))
    }

    /// What is neither a number nor null gets a line of its own.
    fn break_line<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        if !std::mem::take(&mut self.undecided) {
            return Ok(());
        }
        if let Some(array) = self.open.last_mut() {
            *array = Lines::Many;
        }
        self.line(writer)
    }

    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> Result<()> {
        self.break_line(writer)?;
        self.open.push(Lines::One);
        writer.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> Result<()> {
        self.undecided = false;
        if self.open.pop() == Some(Lines::Many) {
            self.line(writer)?;
        }
        writer.write_all(bracket)
    }
}

impl Formatter for NumbersOnOneLine {
    fn write_bool<W: ?Sized + Write>(&mut self, writer: &mut W, value: bool) -> Result<()> {
        self.break_line(writer)?;
        writer.write_all(if value { b"true" } else { b"false" })
    }

    fn begin_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.break_line(writer)?;
        writer.write_all(b"\"")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.undecided = first;
        match self.open.last() {
            _ if first => Ok(()),
            Some(Lines::Many) => {
                writer.write_all(b",")?;
                self.line(writer)
            }
            _ => writer.write_all(b", "),
        }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> Result<()> {
        self.undecided = false;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        if let Some(object) = self.open.last_mut() {
            *object = Lines::Many;
        }
        if !first {
            writer.write_all(b",")?;
        }
        self.line(writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde::Serialize;
    use serde_json::{Serializer, Value, json};

    use super::NumbersOnOneLine;

    fn text(value: &Value) -> String {
        let mut bytes = Vec::new();
        value.serialize(&mut Serializer::with_formatter(&mut bytes, NumbersOnOneLine::default())).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn numbers_stand_on_one_line_and_everything_else_is_indented() {
        let value =
            json!({"a": [1, 2.5, null], "b": [], "c": [{"d": [null, 1]}, {}], "e": ["x", "y"], "f": [[1], [2]]});
        let expected = "{\n  \"a\": [1, 2.5, null],\n  \"b\": [],\n  \"c\": [\n    {\n      \"d\": [null, 1]\n    },\n    {}\n  ],\
                        \n  \"e\": [\n    \"x\",\n    \"y\"\n  ],\n  \"f\": [\n    [1],\n    [2]\n  ]\n}";
        assert_eq!(text(&value), expected);
    }

    #[test]
    fn mixed_arrays_stay_json() {
        for value in [json!([1, "x", {"a": [true, 1]}, [2, [3]]]), json!([[], {}]), json!([null]), json!("x")] {
            assert_eq!(serde_json::from_str::<Value>(&text(&value)).unwrap(), value);
        }
    }
}
