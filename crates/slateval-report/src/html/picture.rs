//! Charts on a page: one drawing for desks and one for phones, of which style sheets show the one that fits.

use crate::chart::{Chart, Size, Titles, svg};
use crate::markup::{Markup, html};

/// `words` are the picture's name and what it shows, `x` and `y` the titles of its axes.
pub(crate) fn figure(
    m: &mut Markup,
    id: &'static str,
    words: (&str, &str),
    (x, y): (&str, &str),
    chart: &dyn Chart,
    caption: &str,
) {
    html!(m, r#"<figure id="{}">"#, id);
    for (class, size) in [("wide", Size::WIDE), ("narrow", Size::NARROW)] {
        svg(m, chart, (&format!("{id}-{class}"), class, size), Titles { x, y }, words);
    }
    html!(m, "<figcaption>{}</figcaption></figure>", caption);
}
