//! Shapes and text on pixels.

use tiny_skia::{FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform};

use super::element::Element;
use super::{Fonts, scaled};

/// Draws an element of a drawing of this size.
pub(super) fn draw(element: &Element<'_>, size: (f32, f32), fonts: &Fonts, pixels: &mut Pixmap) -> Result<(), String> {
    match element.tag {
        "title" => return Ok(()),
        "text" => return text(element, fonts, pixels),
        _ => {}
    }
    // Without a path there is nothing to be seen: it ends where it begins.
    let Some(path) = outline(element, size)? else { return Ok(()) };
    if let Some(paint) = paint(element, "fill", "fill-opacity")? {
        pixels.fill_path(&path, &paint, FillRule::Winding, scaled(), None);
    }
    if let Some(paint) = paint(element, "stroke", "stroke-opacity")? {
        pixels.stroke_path(&path, &paint, &stroke(element)?, scaled(), None);
    }
    Ok(())
}

fn outline(element: &Element<'_>, (width, height): (f32, f32)) -> Result<Option<Path>, String> {
    match element.tag {
        "rect" => {
            let (x, y) = (element.number_or("x", 0.0)?, element.number_or("y", 0.0)?);
            let rect = Rect::from_xywh(x, y, element.length("width", width)?, element.length("height", height)?);
            Ok(rect.map(PathBuilder::from_rect))
        }
        "circle" => Ok(PathBuilder::from_circle(element.number("cx")?, element.number("cy")?, element.number("r")?)),
        "path" => path(element.needed("d")?).ok_or_else(|| "a path cannot be read".into()).map(PathBuilder::finish),
        other => Err(format!("plots have no <{other}>")),
    }
}

/// A path of straight lines, which are all that plots have.
fn path(d: &str) -> Option<PathBuilder> {
    let mut path = PathBuilder::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut rest = d.chars();
    while let Some(letter) = rest.next() {
        let (numbers, more) =
            rest.as_str().split_at(rest.as_str().find(char::is_alphabetic).unwrap_or(rest.as_str().len()));
        rest = more.chars();
        let mut numbers = numbers.split(' ').map(|number| number.parse::<f32>().ok());
        let mut next = || numbers.next().flatten();
        match letter {
            'M' | 'L' => (x, y) = (next()?, next()?),
            'H' => x = next()?,
            'V' => y = next()?,
            'Z' => {
                path.close();
                continue;
            }
            _ => return None,
        }
        if letter == 'M' { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    Some(path)
}

/// What an element is filled or stroked with.
fn paint(element: &Element<'_>, colour: &str, opacity: &str) -> Result<Option<Paint<'static>>, String> {
    let Some(value) = element.attribute(colour).filter(|value| *value != "none") else { return Ok(None) };
    let code =
        value.strip_prefix('#').filter(|code| code.len() == 6).and_then(|code| u32::from_str_radix(code, 16).ok());
    let [_, red, green, blue] = code.ok_or_else(|| format!("{value} is no colour"))?.to_be_bytes();
    let opacity = (element.number_or(opacity, 1.0)? * 255.0).round() as u8;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, opacity);
    Ok(Some(paint))
}

fn stroke(element: &Element<'_>) -> Result<Stroke, String> {
    let dashes = element.attribute("stroke-dasharray").filter(|value| *value != "none");
    let lengths = dashes.map(|value| value.split(' ').map(|length| length.parse().ok()).collect::<Option<Vec<f32>>>());
    let dash = match lengths {
        Some(lengths) => Some(lengths.and_then(|l| StrokeDash::new(l, 0.0)).ok_or("dashes cannot be read")?),
        None => None,
    };
    let line_join =
        if element.attribute("stroke-linejoin") == Some("round") { LineJoin::Round } else { LineJoin::Miter };
    Ok(Stroke { width: element.number_or("stroke-width", 1.0)?, line_join, dash, ..Stroke::default() })
}

fn text(element: &Element<'_>, fonts: &Fonts, pixels: &mut Pixmap) -> Result<(), String> {
    let Some(paint) = paint(element, "fill", "fill-opacity")? else { return Ok(()) };
    let line = fonts.line(&element.text, element.number("font-size")?);
    let before = match element.needed("text-anchor")? {
        "start" => 0.0,
        "middle" => line.width / 2.0,
        "end" => line.width,
        other => return Err(format!("text cannot be placed at its {other}")),
    };
    if let Some(outline) = line.outline {
        let place = Transform::from_translate(element.number("x")? - before, element.number("y")?);
        pixels.fill_path(&outline, &paint, FillRule::Winding, scaled().pre_concat(place), None);
    }
    Ok(())
}
