//! HTML and SVG as text. Whatever comes from outside passes [`Escape`]: only words of this source go in as they are.

use std::fmt::{self, Display, Write};

use crate::text::is_obeyed;

/// Attributes of an element, escaped when they are written.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

/// A piece of HTML or SVG.
#[derive(Debug, Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// Words of this source. Nothing else lives as long.
    pub(crate) fn literal(&mut self, text: &'static str) {
        self.0.push_str(text);
    }

    /// Anything, shown as the text it is.
    pub(crate) fn text(&mut self, text: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(Escape(&mut self.0), "{text}");
    }

    pub(crate) fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.start(tag, attributes);
        self.0.push('>');
    }

    pub(crate) fn close(&mut self, tag: &'static str) {
        let _ = write!(self.0, "</{tag}>");
    }

    /// An element without content.
    pub(crate) fn empty(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.start(tag, attributes);
        self.0.push_str("/>");
    }

    /// An element with text in it.
    pub(crate) fn element(&mut self, tag: &'static str, attributes: Attributes<'_>, text: impl Display) {
        self.open(tag, attributes);
        self.text(text);
        self.close(tag);
    }

    /// An element with other elements in it.
    pub(crate) fn within(&mut self, tag: &'static str, attributes: Attributes<'_>, content: impl FnOnce(&mut Self)) {
        self.open(tag, attributes);
        content(self);
        self.close(tag);
    }

    pub(crate) fn add(&mut self, other: &Markup) {
        self.0.push_str(&other.0);
    }

    /// JSON for the page's script. `<` can end a script or begin a comment; in JSON it stands only inside strings,
    /// where it can be written as a number.
    pub(crate) fn json(&mut self, id: &'static str, json: &str) {
        self.open("script", &[("type", &"application/json"), ("id", &id)]);
        self.0.push_str(&json.trim_end().replace('<', "\\u003c"));
        self.close("script");
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }

    fn start(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        let _ = write!(self.0, "<{tag}");
        for (name, value) in attributes {
            let _ = write!(self.0, " {name}=\"");
            let _ = write!(Escape(&mut self.0), "{value}");
            self.0.push('"');
        }
    }
}

/// Writes text so that it stays text between tags and between quotes, in HTML and in XML.
struct Escape<'a>(&'a mut String);

impl Write for Escape<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // XML has no way to write these.
                '\u{fffe}' | '\u{ffff}' => self.0.push('\u{fffd}'),
                '\n' => self.0.push(c),
                c if is_obeyed(c) => self.0.push(' '),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let rude = "<script>alert('1')</script> & \"x\"\u{1b}\u{202e}\u{0}\u{ffff}";
        let mut markup = Markup::default();
        markup.element("p", &[("title", &rude)], rude);
        let escaped = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;   \u{fffd}";
        assert_eq!(markup.into_string(), format!("<p title=\"{escaped}\">{escaped}</p>"));
    }

    #[test]
    fn json_cannot_leave_its_script() {
        let mut markup = Markup::default();
        let text = "</script><!-- <script>";
        let json = serde_json::to_string(text).expect("a string is JSON");
        markup.json("data", &json);
        let html = markup.into_string();
        let inside = html.strip_prefix("<script type=\"application/json\" id=\"data\">");
        let inside = inside.and_then(|rest| rest.strip_suffix("</script>")).expect("one element");
        assert!(!inside.contains('<'), "{inside}");
        assert_eq!(serde_json::from_str::<String>(inside).expect("still JSON"), text);
    }
}
