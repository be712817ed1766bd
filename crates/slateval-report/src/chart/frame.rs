//! Axes around a plot.

use super::canvas::{Canvas, Ink, Place, Px, Role};
use super::scale::Scale;
use crate::markup::{Markup, html};

/// How large a picture is, in its own units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Size {
    /// For a desk.
    pub(crate) const WIDE: Size = Size { width: 860.0, height: 360.0 };
    /// For a phone.
    pub(crate) const NARROW: Size = Size { width: 350.0, height: 290.0 };
    /// One of many beside each other.
    pub(crate) const SMALL: Size = Size { width: 250.0, height: 150.0 };
}

/// A plot's place and scales.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) x: Scale,
    pub(crate) y: Scale,
}

/// What is written along the axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Titles<'a> {
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
}

impl Frame {
    /// A frame that fills a picture, for these values.
    pub(crate) fn new(size: Size, x: (f64, f64), y: (f64, f64)) -> Self {
        let small = size.width < 300.0;
        let (left, right, top, bottom) = if small { (34.0, 10.0, 8.0, 22.0) } else { (56.0, 14.0, 30.0, 46.0) };
        Frame { x: Scale::new(x, (left, size.width - right)), y: Scale::new(y, (size.height - bottom, top)) }
    }

    /// Moved to the right.
    pub(crate) fn shifted(mut self, dx: f64, dy: f64) -> Self {
        self.x.pixels = (self.x.pixels.0 + dx, self.x.pixels.1 + dx);
        self.y.pixels = (self.y.pixels.0 + dy, self.y.pixels.1 + dy);
        self
    }

    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// Grid, axes and their numbers.
    pub(crate) fn draw(&self, canvas: &mut Canvas, titles: Titles<'_>) {
        let (left, right) = self.x.pixels;
        let (bottom, top) = self.y.pixels;
        let across = ((right - left) / 90.0).clamp(2.0, 8.0) as usize;
        let up = ((bottom - top) / 50.0).clamp(2.0, 6.0) as usize;
        for (value, label) in self.y.ticks(up) {
            let y = self.y.at(value);
            canvas.line(Role::Grid, (left, y), (right, y));
            canvas.text(Role::Tick, (left - 7.0, y + 4.0), Place::End, label);
        }
        for (value, label) in self.x.ticks(across) {
            let x = self.x.at(value);
            canvas.line(Role::Axis, (x, bottom), (x, bottom + 4.0));
            canvas.text(Role::Tick, (x, bottom + 18.0), Place::Middle, label);
        }
        canvas.line(Role::Axis, (left, bottom), (right, bottom));
        if !titles.x.is_empty() {
            canvas.text(Role::Label, ((left + right) / 2.0, bottom + 38.0), Place::Middle, titles.x);
        }
        if !titles.y.is_empty() {
            canvas.text(Role::Label, (left - 48.0, top - 13.0), Place::Start, titles.y);
        }
    }
}

/// A plot on two scales.
pub(crate) trait Chart {
    /// The scales, in a picture of this size.
    fn frame(&self, size: Size) -> Frame;

    fn draw(&self, canvas: &mut Canvas, frame: &Frame, titles: Titles<'_>);

    /// Whether a script moves a line across it.
    fn has_marker(&self) -> bool {
        false
    }

    /// How high it has to be, beside others.
    fn height(&self, usual: f64) -> f64 {
        usual
    }
}

/// A chart as a page has it, with what it is called and what it shows for those who cannot see it. A script finds the
/// plot's place and scale in its attributes.
pub(crate) fn svg(
    m: &mut Markup,
    chart: &dyn Chart,
    (id, class, size): (&str, &str, Size),
    titles: Titles<'_>,
    (title, desc): (&str, &str),
) {
    let frame = chart.frame(size);
    let mut canvas = Canvas::new(Ink::Themed);
    chart.draw(&mut canvas, &frame, titles);
    let ((left, right), (bottom, top), (low, high)) = (frame.x.pixels, frame.y.pixels, frame.x.values);
    if chart.has_marker() {
        canvas.line(Role::Marker, (left, bottom), (left, top));
    }
    let (width, height) = (Px(size.width), Px(size.height));
    html!(m, r#"<svg class="{}" viewBox="0 0 {} {}" role="img""#, class, width, height);
    html!(m, r#" aria-labelledby="{}-title {}-desc""#, id, id);
    html!(m, r#" data-plot="{} {} {} {}" data-values="{} {}">"#, Px(left), Px(right), Px(top), Px(bottom), low, high);
    html!(m, r#"<title id="{}-title">{}</title><desc id="{}-desc">{}</desc>"#, id, title, id, desc);
    m.add(&canvas.markup);
    html!(m, "</svg>");
}
