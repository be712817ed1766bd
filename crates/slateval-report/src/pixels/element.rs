//! Elements of a drawing, as [`crate::markup`] writes them.

/// An element, with the text that follows its opening tag.
#[derive(Debug)]
pub(super) struct Element<'a> {
    pub(super) tag: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    pub(super) text: String,
}

/// The elements of a drawing, in their order and without their ends. `<` and `>` occur only around tags: they are escaped
/// elsewhere.
pub(super) fn read(drawing: &str) -> impl Iterator<Item = Result<Element<'_>, String>> {
    drawing.split('<').skip(1).filter(|piece| !piece.starts_with('/')).map(element)
}

fn element(piece: &str) -> Result<Element<'_>, String> {
    let (inside, text) = piece.split_once('>').ok_or("a tag does not end")?;
    let inside = inside.strip_suffix('/').unwrap_or(inside);
    let (tag, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
    let mut attributes = Vec::new();
    while let Some((name, value)) = rest.split_once("=\"") {
        let (value, more) = value.split_once('"').ok_or_else(|| format!("an attribute of <{tag}> does not end"))?;
        attributes.push((name.trim(), value));
        rest = more;
    }
    Ok(Element { tag, attributes, text: plain(text) })
}

/// Text as it is shown: without escapes, and with one space where there are several, as SVG has it.
fn plain(escaped: &str) -> String {
    let words: Vec<&str> = escaped.split_ascii_whitespace().collect();
    let text = words.join(" ");
    let escapes = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    escapes.iter().fold(text, |text, (escape, letter)| text.replace(escape, letter))
}

impl<'a> Element<'a> {
    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }

    /// An attribute that has to be there.
    pub(super) fn needed(&self, name: &str) -> Result<&'a str, String> {
        self.attribute(name).ok_or_else(|| format!("<{}> has no {name}", self.tag))
    }

    /// An attribute that is a number.
    pub(super) fn number(&self, name: &str) -> Result<f32, String> {
        self.parsed(name, self.needed(name)?)
    }

    /// An attribute that is a number, and may be left out.
    pub(super) fn number_or(&self, name: &str, default: f32) -> Result<f32, String> {
        self.attribute(name).map_or(Ok(default), |value| self.parsed(name, value))
    }

    /// An attribute that is a length: a number, or a percentage of the whole.
    pub(super) fn length(&self, name: &str, whole: f32) -> Result<f32, String> {
        let value = self.needed(name)?;
        match value.strip_suffix('%') {
            Some(percent) => Ok(self.parsed(name, percent)? / 100.0 * whole),
            None => self.parsed(name, value),
        }
    }

    fn parsed(&self, name: &str, value: &str) -> Result<f32, String> {
        let number: Option<f32> = value.parse().ok();
        number.filter(|number| number.is_finite()).ok_or_else(|| format!("{name} of <{}> is no number", self.tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::Markup;

    #[test]
    fn elements_are_read_as_they_were_written() {
        let rude = "a  <b> & \"c\" 'd' &lt; =\"";
        let mut markup = Markup::default();
        markup.open("svg", &[("width", &"12"), ("named", &rude)]);
        markup.empty("rect", &[("width", &"50%")]);
        markup.element("text", &[], rude);
        markup.close("svg");
        let drawing = markup.into_string();
        let read: Vec<Element<'_>> = read(&drawing).collect::<Result<_, _>>().expect("it can be read");
        assert_eq!(read.iter().map(|e| e.tag).collect::<Vec<_>>(), ["svg", "rect", "text"]);
        assert_eq!((read[0].number("width"), read[1].length("width", 30.0)), (Ok(12.0), Ok(15.0)));
        assert_eq!(read[2].text, "a <b> & \"c\" 'd' &lt; =\"");
        assert_eq!(read[0].number("named"), Err("named of <svg> is no number".into()));
        assert_eq!(read[1].number("height"), Err("<rect> has no height".into()));
    }
}
