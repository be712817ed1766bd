//! An estimate and its interval on a line, to stand in a table.

use slateval::Interval;

use super::canvas::{Canvas, Ink, Role};
use super::scale::Scale;
use crate::markup::Markup;
use crate::standing::ends;

const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 18.0;

/// A dot, its interval, and where 0 is. The table says the numbers, so the drawing is hidden from screen readers.
pub(crate) fn interval_bar(interval: &Interval, range: (f64, f64), policy: usize) -> Markup {
    let scale = Scale::new(range, (4.0, WIDTH - 4.0));
    let (mut canvas, middle) = (Canvas::new(Ink::Themed), HEIGHT / 2.0);
    let zero = scale.at(0.0);
    canvas.line(Role::Axis, (zero, 0.0), (zero, HEIGHT));
    let clamp = |value: f64| scale.at(value.clamp(scale.values.0, scale.values.1));
    if let (Some(lower), Some(upper)) = ends(interval) {
        let (from, to) = (clamp(lower), clamp(upper));
        let role = if interval.conditional { Role::Edge(policy) } else { Role::Band(policy) };
        canvas.rect(role, from, middle - 4.0, (to - from).max(1.0), 8.0);
    }
    if let Some(estimate) = interval.estimate {
        canvas.circle(Role::Dot(policy), (clamp(estimate), middle), 3.5);
    }
    let mut out = Markup::default();
    let view = format!("0 0 {WIDTH} {HEIGHT}");
    out.open("svg", &[("class", &"bar-line"), ("viewBox", &view), ("aria-hidden", &"true")]);
    out.add(&canvas.markup);
    out.close("svg");
    out
}
