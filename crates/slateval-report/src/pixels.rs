//! Drawings as pixels.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, FaceInfo, ID, Source, Stretch, Style, Weight};
use resvg::usvg::{FontResolver, Options, Tree};

use crate::Error;

/// Latin, Greek and Cyrillic letters, which look the same on every machine.
const FONT: &[u8] = include_bytes!("../assets/fonts/DejaVuSans.ttf");

/// Pixels for each unit of the drawing.
const SCALE: f32 = 2.0;

/// A larger picture takes more than a gigabyte, and as much again while it is encoded: the program would abort on a machine
/// with less memory.
const MOST_PIXELS: f32 = (1 << 28) as f32;

/// An SVG as PNG.
pub(crate) fn encode(drawing: &str) -> Result<Vec<u8>, Error> {
    let encoded = draw(drawing).and_then(|pixels| pixels.encode_png().map_err(|e| e.to_string()));
    encoded.map_err(|reason| Error::Encode { what: "the plot", reason })
}

fn draw(drawing: &str) -> Result<Pixmap, String> {
    let tree = Tree::from_str(drawing, &options()).map_err(|e| e.to_string())?;
    let [width, height] = [tree.size().width(), tree.size().height()].map(|side| side.ceil() * SCALE);
    let fits = width * height <= MOST_PIXELS;
    let pixels = fits.then(|| Pixmap::new(width as u32, height as u32)).flatten();
    let mut pixels = pixels.ok_or_else(|| format!("{width} × {height} pixels are too many"))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    Ok(pixels)
}

/// All text is in [`FONT`], whatever fonts the drawing names: the system may have another version of them.
fn options() -> Options<'static> {
    let mut fonts = Database::new();
    let own = fonts.load_font_source(Source::Binary(Arc::new(FONT))).first().copied();
    let system = FontResolver::default_fallback_selector();
    let fall_back = move |letter: char, tried: &[ID], fonts: &mut Arc<Database>| {
        if fonts.len() == 1 {
            add_system_fonts(Arc::make_mut(fonts));
        }
        system(letter, tried, fonts)
    };
    let font_resolver = FontResolver { select_font: Box::new(move |_, _| own), select_fallback: Box::new(fall_back) };
    Options { fontdb: Arc::new(fonts), font_resolver, ..Options::default() }
}

/// Adds the system's fonts, in the order in which they are tried for a letter: upright fonts of normal weight first, then
/// by name, because directories are listed in any order.
fn add_system_fonts(fonts: &mut Database) {
    let mut system = Database::new();
    system.load_system_fonts();
    let mut faces: Vec<FaceInfo> = system.faces().cloned().collect();
    faces.sort_by_cached_key(|face| {
        let weight = face.weight.0.abs_diff(Weight::NORMAL.0);
        (face.style != Style::Normal, weight, face.stretch != Stretch::Normal, face.post_script_name.clone())
    });
    for face in faces {
        fonts.push_face_info(face);
    }
}

#[cfg(test)]
mod tests {
    use resvg::usvg::Node;

    use super::*;

    fn drawing(text: &str) -> String {
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40" font-family="Arial">"#;
        format!(r#"{svg}<text x="10" y="25" font-size="13">{text}</text></svg>"#)
    }

    #[test]
    fn latin_greek_and_cyrillic_letters_need_no_other_font() {
        let (options, text) = (options(), "Tail’s “95.5%” −0.1 ≥ é ß Ł Ωμέγα жёлтый ↑ ∅");
        let tree = Tree::from_str(&drawing(text), &options).expect("an SVG");
        assert_eq!(tree.fontdb().len(), 1);
        let Some(Node::Text(node)) = tree.root().children().first() else { panic!("no text") };
        let mut glyphs = node.layouted().iter().flat_map(|span| &span.positioned_glyphs);
        assert!(glyphs.clone().count() > 30 && glyphs.all(|glyph| glyph.id.0 != 0), "a letter is missing");
    }

    #[test]
    fn a_letter_without_a_font_is_drawn_as_a_box() {
        // For private use.
        let pixels = draw(&drawing("\u{10fff0}")).expect("drawn");
        assert!(pixels.pixels().iter().any(|pixel| pixel.alpha() > 0));
    }

    #[test]
    fn pictures_that_need_gigabytes_are_refused() {
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="10000" height="1e9"/>"#;
        let message = "cannot encode the plot: 20000 × 2000000000 pixels are too many";
        assert_eq!(encode(svg).map_err(|e| e.to_string()), Err(message.to_owned()));
    }
}
