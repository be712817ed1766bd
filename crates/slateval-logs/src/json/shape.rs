//! What JSON lines hold: the type of each member, from a sample of lines.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Why a line is none, in a reader's words. It is one line, so the column alone says where.
pub(crate) fn not_an_object(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    format!("not one JSON object: {reason} at character {}", error.column())
}

/// Marks a column of text that holds numbers as well.
const MIXED: &str = "numbers and other values";

/// Whether the values of a column are numbers, but for some.
pub(crate) fn is_mixed(field: &Field) -> bool {
    match field.data_type() {
        DataType::List(item) => is_mixed(item),
        _ => field.metadata().contains_key(MIXED),
    }
}

/// The members of the lines' objects.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// In the order in which they were first seen.
    members: Vec<(String, Kind)>,
    places: HashMap<String, usize>,
}

/// What the values of a member seen so far are.
#[derive(Debug)]
enum Kind {
    Null,
    Bool,
    Int,
    Float,
    /// Text, or values that have nothing else in common.
    Text,
    /// Numbers, and values that are none: text where it is a label, and rows that cannot be used where it is a number.
    Mixed,
    List(Box<Kind>),
    Object(Shape),
}

impl Shape {
    /// Looks at one more line; says why it is not one object.
    pub(crate) fn add_line(&mut self, line: &[u8]) -> Result<(), String> {
        let mut json = serde_json::Deserializer::from_slice(line);
        let read = json.deserialize_map(Line(self)).and_then(|()| json.end());
        read.map_err(|e| not_an_object(&e))
    }

    pub(crate) fn schema(&self) -> Schema {
        Schema::new(self.fields())
    }

    fn fields(&self) -> Fields {
        self.members.iter().map(|(name, kind)| kind.field(name)).collect()
    }

    fn member(&mut self, name: String) -> &mut Kind {
        let place = *self.places.entry(name).or_insert_with_key(|name| {
            self.members.push((name.clone(), Kind::Null));
            self.members.len() - 1
        });
        &mut self.members[place].1
    }

    fn add_members<'de, M: MapAccess<'de>>(&mut self, mut map: M) -> Result<(), M::Error> {
        while let Some(name) = map.next_key::<String>()? {
            map.next_value_seed(Value(self.member(name)))?;
        }
        Ok(())
    }
}

impl Kind {
    fn field(&self, name: &str) -> Field {
        let field = Field::new(name, self.data_type(), true);
        match self {
            Kind::Mixed => field.with_metadata([(MIXED.to_owned(), String::new())].into()),
            _ => field,
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Kind::Null => DataType::Null,
            Kind::Bool => DataType::Boolean,
            Kind::Int => DataType::Int64,
            Kind::Float => DataType::Float64,
            Kind::Text | Kind::Mixed => DataType::Utf8,
            Kind::List(item) => DataType::List(Arc::new(item.field(Field::LIST_FIELD_DEFAULT_NAME))),
            Kind::Object(shape) => DataType::Struct(shape.fields()),
        }
    }

    /// Adds a value that is neither list nor object. Beside lists it counts as an item of theirs.
    fn add(&mut self, value: Kind) {
        match (&mut *self, value) {
            (Kind::List(item), value) => item.add(value),
            (Kind::Null, value) => *self = value,
            (_, Kind::Null) | (Kind::Bool, Kind::Bool) | (Kind::Int, Kind::Int) => {}
            (Kind::Int | Kind::Float, Kind::Int | Kind::Float) => *self = Kind::Float,
            (Kind::Text | Kind::Bool, Kind::Text | Kind::Bool) => *self = Kind::Text,
            (_, Kind::Int | Kind::Float | Kind::Mixed) => *self = Kind::Mixed,
            _ => *self = self.without_a_type(),
        }
    }

    /// What it becomes beside a value that has nothing in common with those before.
    fn without_a_type(&self) -> Kind {
        match self {
            Kind::Bool | Kind::Text | Kind::Object(_) => Kind::Text,
            _ => Kind::Mixed,
        }
    }

    /// The kind of a list's items, if there can be lists.
    fn item(&mut self) -> Option<&mut Kind> {
        if matches!(self, Kind::Object(_)) {
            *self = Kind::Text;
            return None;
        }
        if !matches!(self, Kind::List(_)) {
            let item = Box::new(std::mem::replace(self, Kind::Null));
            *self = Kind::List(item);
        }
        match self {
            Kind::List(item) => Some(item),
            _ => None,
        }
    }

    /// The members of an object, if there can be objects.
    fn object(&mut self) -> Option<&mut Shape> {
        match self {
            Kind::Null => *self = Kind::Object(Shape::default()),
            Kind::Object(_) => {}
            _ => *self = self.without_a_type(),
        }
        match self {
            Kind::Object(shape) => Some(shape),
            _ => None,
        }
    }
}

/// Reads a line's object.
struct Line<'a>(&'a mut Shape);

impl<'de> Visitor<'de> for Line<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<(), M::Error> {
        self.0.add_members(map)
    }
}

/// Reads any value.
struct Value<'a>(&'a mut Kind);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.add(Kind::Null);
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.0.add(Kind::Bool);
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.0.add(Kind::Int);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.0.add(if i64::try_from(value).is_ok() { Kind::Int } else { Kind::Float });
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.0.add(Kind::Float);
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.0.add(Kind::Text);
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        match self.0.item() {
            Some(item) => while list.next_element_seed(Value(item))?.is_some() {},
            None => while list.next_element::<IgnoredAny>()?.is_some() {},
        }
        Ok(())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        match self.0.object() {
            Some(shape) => shape.add_members(map),
            None => {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(())
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn types(lines: &[&str]) -> Vec<String> {
        let mut shape = Shape::default();
        lines.iter().for_each(|line| shape.add_line(line.as_bytes()).unwrap());
        shape.schema().fields().iter().map(|f| format!("{} {}", f.name(), f.data_type())).collect()
    }

    #[test]
    fn values_of_one_kind_have_its_type() {
        let line = r#"{"n": null, "b": true, "i": -3, "f": 0.5, "t": "x", "l": [1, null], "e": [], "o": {"a": 1}}"#;
        let list = |item| list_type(item).to_string();
        let wanted = ["n Null", "b Boolean", "i Int64", "f Float64", "t Utf8"].map(str::to_owned);
        let found = types(&[line]);
        assert_eq!(found[..5], wanted);
        assert_eq!(found[5], format!("l {}", list(DataType::Int64)));
        assert_eq!(found[6], format!("e {}", list(DataType::Null)));
        assert!(found[7].starts_with("o Struct"), "{}", found[7]);
    }

    fn list_type(item: DataType) -> DataType {
        DataType::List(Arc::new(Field::new_list_field(item, true)))
    }

    #[test]
    fn lines_together_have_the_type_that_holds_all() {
        let lists = list_type(DataType::Float64);
        let together = |a: &str, b: &str| types(&[&format!("{{\"x\": {a}}}"), &format!("{{\"x\": {b}}}")])[0].clone();
        for (a, b, wanted) in [
            ("null", "1", "x Int64"),
            ("1", "0.5", "x Float64"),
            ("1", "9223372036854775808", "x Float64"),
            ("1", "true", "x Utf8"),
            ("1", "\"1\"", "x Utf8"),
            ("[1]", "[0.5]", &format!("x {lists}")),
            ("[]", "[0.5]", &format!("x {lists}")),
            ("1", "[0.5]", &format!("x {lists}")),
            ("{}", "1", "x Utf8"),
            ("[{}]", "{}", "x Utf8"),
        ] {
            assert_eq!(together(a, b), wanted, "{a}, {b}");
            assert_eq!(together(b, a), wanted, "{b}, {a}");
        }
        assert_eq!(types(&["{\"b\": 1}", "{\"a\": 1, \"b\": 2}"]), ["b Int64", "a Int64"]);
    }

    #[test]
    fn numbers_among_other_values_are_told() {
        let mixed = |values: &[&str]| {
            let mut shape = Shape::default();
            values.iter().for_each(|value| shape.add_line(format!("{{\"x\": {value}}}").as_bytes()).unwrap());
            is_mixed(shape.schema().field(0))
        };
        for values in [["1", "\"x\""], ["\"x\"", "0.5"], ["1", "true"], ["[1, \"x\"]", "[2]"], ["0.5", "{}"]] {
            assert!(mixed(&values), "{values:?}");
        }
        for values in [["1", "0.5"], ["\"x\"", "true"], ["\"1\"", "null"], ["[1]", "[]"], ["{}", "{}"]] {
            assert!(!mixed(&values), "{values:?}");
        }
    }

    #[test]
    fn a_line_is_one_object() {
        for line in ["{", "1", "[1]", "{} {}", "{\"a\" 1}", "{\"a\": nan}", &"{\"a\":[".repeat(200)] {
            let error = Shape::default().add_line(line.as_bytes()).unwrap_err();
            assert!(error.starts_with("not one JSON object: ") && !error.contains(" line "), "{line}: {error}");
        }
    }
}
