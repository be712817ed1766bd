//! Charts on a page: one drawing for desks and one for phones, of which style sheets show the one that fits.

use crate::chart::{Size, Titles};
use crate::markup::Markup;

/// Draws a chart under an id, with a class, in a size, with its axes' titles and its words.
type Draw<'a> = &'a dyn Fn(&str, &'static str, Size, Titles<'_>, (&str, &str)) -> Markup;

pub(crate) fn figure(m: &mut Markup, id: &'static str, caption: &str, content: impl FnOnce(&mut Markup)) {
    m.within("figure", &[("id", &id)], |m| {
        content(m);
        m.element("figcaption", &[], caption);
    });
}

/// `words` are the picture's name and what it shows, `titles` those of its axes.
pub(crate) fn both_sizes(m: &mut Markup, id: &str, words: (&str, &str), (x, y): (&str, &str), draw: Draw<'_>) {
    for (class, size) in [("wide", Size::WIDE), ("narrow", Size::NARROW)] {
        m.add(&draw(&format!("{id}-{class}"), class, size, Titles { x, y }, words));
    }
}
