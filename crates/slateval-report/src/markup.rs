//! HTML and SVG as text. Whatever comes from outside passes [`Escaped`]: only words of this source go in as they are.

use std::fmt::{self, Display, Write};

use crate::text::is_obeyed;

/// Adds HTML or SVG as it is written here, with values that are shown as the text they are:
/// `html!(m, "<p title=\"{}\">{}</p>", title, text)`.
///
/// The text is a literal of this source without names in its braces, so that no value gets around [`Escaped`].
macro_rules! html {
    ($m:expr, $text:literal $(, $value:expr)* $(,)?) => {
        $m.raw(format_args!(concat!($text) $(, $crate::markup::Escaped(&$value))*))
    };
}

pub(crate) use html;

/// A piece of HTML or SVG.
#[derive(Debug, Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// Words of this source and numbers; for anything else there is [`html!`].
    pub(crate) fn raw(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(text);
    }

    /// An element with other elements in it.
    pub(crate) fn within(&mut self, tag: &'static str, content: impl FnOnce(&mut Self)) {
        self.raw(format_args!("<{tag}>"));
        content(self);
        let tag = tag.split(' ').next().unwrap_or_default();
        self.raw(format_args!("</{tag}>"));
    }

    pub(crate) fn add(&mut self, other: &Markup) {
        self.0.push_str(&other.0);
    }

    /// JSON for the page's script. `<` can end a script or begin a comment; in JSON it stands only inside strings,
    /// where it can be written as a number.
    pub(crate) fn json(&mut self, id: &'static str, json: &str) {
        let json = json.trim_end().replace('<', "\\u003c");
        self.raw(format_args!(r#"<script type="application/json" id="{id}">{json}</script>"#));
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// A value shown as the text that it is, between tags and between quotes.
pub(crate) struct Escaped<'a, T: ?Sized>(pub(crate) &'a T);

impl<T: Display + ?Sized> Display for Escaped<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escape(f), "{}", self.0)
    }
}

/// Writes text so that it stays text between tags and between quotes, in HTML and in XML.
struct Escape<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escape<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.write_str("&amp;"),
                '<' => self.0.write_str("&lt;"),
                '>' => self.0.write_str("&gt;"),
                '"' => self.0.write_str("&quot;"),
                '\'' => self.0.write_str("&#39;"),
                // XML has no way to write these.
                '\u{fffe}' | '\u{ffff}' => self.0.write_char('\u{fffd}'),
                '\n' => self.0.write_char(c),
                c if is_obeyed(c) => self.0.write_char(' '),
                c => self.0.write_char(c),
            }?;
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
        html!(markup, "<p title=\"{}\">{}</p>", rude, rude);
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
