//! Drawings as pixels. Only what [`crate::plot`] draws is understood, a few elements of SVG: a renderer for all of SVG
//! would be a sixth of what the command takes to build.

mod element;
mod letters;
#[cfg(not(feature = "all-scripts"))]
mod own_font;
mod png;
#[cfg(feature = "all-scripts")]
mod scripts;
mod shape;

use tiny_skia::{Pixmap, Transform};

use crate::Error;
use element::Element;
#[cfg(not(feature = "all-scripts"))]
use own_font::Fonts;
#[cfg(feature = "all-scripts")]
use scripts::Fonts;

/// Pixels for each unit of the drawing.
const SCALE: f32 = 2.0;

/// An SVG as PNG.
pub(crate) fn encode(drawing: &str) -> Result<Vec<u8>, Error> {
    draw(drawing).and_then(|pixels| png::encode(&pixels)).map_err(|reason| Error::Encode { what: "the plot", reason })
}

fn draw(drawing: &str) -> Result<Pixmap, String> {
    let elements: Vec<Element<'_>> = element::read(drawing).collect::<Result<_, _>>()?;
    let root = elements.first().filter(|element| element.tag == "svg").ok_or("it does not begin with <svg>")?;
    let size = (root.number("width")?, root.number("height")?);
    let mut pixels = blank(size)?;
    let texts = elements.iter().filter(|element| element.tag == "text").map(|element| element.text.as_str());
    let fonts = Fonts::new(texts);
    for element in &elements[1..] {
        shape::draw(element, size, &fonts, &mut pixels)?;
    }
    Ok(pixels)
}

fn blank((width, height): (f32, f32)) -> Result<Pixmap, String> {
    if !(width > 0.0 && height > 0.0) {
        return Err("it has no size".into());
    }
    let side = |length: f32| (length.ceil() * SCALE) as u32;
    Pixmap::new(side(width), side(height)).ok_or_else(|| "it is too large".into())
}

/// From the drawing's units to pixels.
fn scaled() -> Transform {
    Transform::from_scale(SCALE, SCALE)
}
