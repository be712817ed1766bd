//! Letters of all scripts as outlines, from the system's fonts.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use harfrust::{Direction, ShapeOptions, ShaperData, UnicodeBuffer};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::prelude::{LocationRef, Size};
use skrifa::raw::FileRef;
use skrifa::{FontRef, GlyphId, MetadataProvider};
use tiny_skia::PathBuilder;
use unicode_bidi::{BidiInfo, Level};

use super::letters::{self, FONT, Line};
use crate::whole::ending;

/// The system's fonts behind the crate's own, read only if a text needs them.
pub(super) struct Fonts(Vec<Vec<u8>>);

struct Face<'a> {
    font: FontRef<'a>,
    shaper: OnceCell<ShaperData>,
}

impl Fonts {
    pub(super) fn new<'t>(mut texts: impl Iterator<Item = &'t str>) -> Self {
        let others = if texts.all(has_all) { Vec::new() } else { system_fonts() };
        Fonts(others.iter().filter_map(|path| std::fs::read(path).ok()).collect())
    }

    pub(super) fn line(&self, text: &str, size: f32) -> Line {
        if has_all(text) { letters::line(text, size) } else { shaped(&self.faces(), text, size) }
    }

    /// Files that are no fonts are left out.
    fn faces(&self) -> Vec<Face<'_>> {
        let files = [FONT].into_iter().chain(self.0.iter().map(Vec::as_slice));
        let fonts = files.filter_map(|data| FileRef::new(data).ok()).flat_map(|file| file.fonts()).flatten();
        fonts.map(|font| Face { font, shaper: OnceCell::new() }).collect()
    }
}

fn has_all(text: &str) -> bool {
    text.chars().all(letters::has)
}

fn shaped(faces: &[Face<'_>], text: &str, size: f32) -> Line {
    let mut pen = Pen { path: PathBuilder::new(), x: 0.0, y: 0.0, scale: 1.0 };
    let bidi = BidiInfo::new(text, Some(Level::ltr()));
    for paragraph in &bidi.paragraphs {
        let (levels, runs) = bidi.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            let backwards = levels[run.start].is_rtl();
            let mut pieces = pieces(faces, &text[run.clone()]);
            if backwards {
                pieces.reverse();
            }
            let direction = if backwards { Direction::RightToLeft } else { Direction::LeftToRight };
            for (face, piece) in pieces {
                face.write(&text[run.clone()][piece], direction, size, &mut pen);
            }
        }
    }
    Line { outline: pen.path.finish(), width: pen.x }
}

/// Pieces of a text that are written with one font each: the first one where it has the letter, then the one before,
/// so that words stay together.
fn pieces<'f, 'a>(faces: &'f [Face<'a>], text: &str) -> Vec<(&'f Face<'a>, Range<usize>)> {
    let Some(own) = faces.first() else { return Vec::new() };
    let mut pieces: Vec<(&'f Face<'a>, Range<usize>)> = Vec::new();
    for (at, c) in text.char_indices() {
        let before = pieces.last().map(|(face, _)| *face);
        let others = [own].into_iter().chain(before).chain(faces);
        let face = others.into_iter().find(|face| face.has(c)).unwrap_or(own);
        let end = at + c.len_utf8();
        match pieces.last_mut() {
            Some((last, range)) if std::ptr::eq(*last, face) => range.end = end,
            _ => pieces.push((face, at..end)),
        }
    }
    pieces
}

impl Face<'_> {
    /// Whether the font can draw a letter. Fonts of pictures, as some have for emoji, cannot.
    fn has(&self, c: char) -> bool {
        self.font.charmap().map(c).is_some_and(|glyph| self.font.outline_glyphs().get(glyph).is_some())
    }

    fn write(&self, text: &str, direction: Direction, size: f32, pen: &mut Pen) {
        let mut letters = UnicodeBuffer::new();
        letters.push_str(text);
        letters.set_direction(direction);
        letters.guess_segment_properties();
        let shaper = self.shaper.get_or_init(|| ShaperData::new(&self.font)).shaper(&self.font).build();
        let (outlines, start) = (self.font.outline_glyphs(), pen.x);
        pen.scale = size / shaper.units_per_em() as f32;
        let glyphs = shaper.shape(letters, ShapeOptions::new());
        let mut advance = 0;
        for (glyph, place) in glyphs.glyph_infos().iter().zip(glyphs.glyph_positions()) {
            pen.x = start + (advance + place.x_offset) as f32 * pen.scale;
            pen.y = -(place.y_offset as f32) * pen.scale;
            if let Some(outline) = outlines.get(GlyphId::new(glyph.glyph_id)) {
                // A glyph with errors is left out, like one without an outline.
                let _ = outline.draw(DrawSettings::unhinted(Size::unscaled(), LocationRef::default()), pen);
            }
            advance += place.x_advance;
        }
        pen.x = start + advance as f32 * pen.scale;
    }
}

/// Draws glyphs, whose y axis goes up, into a drawing, whose y axis goes down.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// Font files in the usual places, in an order that does not depend on the directory's.
fn system_fonts() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        ["/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts", "/System/Library/Fonts", "C:\\Windows\\Fonts"]
            .map(PathBuf::from)
            .to_vec();
    folders.extend(std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share/fonts")));
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ if is_font(&path) => {
                    found.insert(path);
                }
                _ => {}
            }
        }
    }
    found.into_iter().collect()
}

fn is_font(path: &Path) -> bool {
    matches!(ending(path).as_deref(), Some("ttf" | "otf" | "ttc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_letters_look_as_if_they_were_shaped() {
        let fonts = Fonts(Vec::new());
        for text in ["Tail of logging’s, AVATAR: 95.5%", "Ωμέγα ΑΥ", "жёлтый Това", "−0.1", "naïve ßØþ ŒŁ", "higher ↑"]
        {
            let (own, shaped) = (fonts.line(text, 13.0), shaped(&fonts.faces(), text, 13.0));
            assert!((own.width - shaped.width).abs() < 1e-3, "{text}");
            let points = |line: Line| line.outline.map(|path| path.points().to_vec()).unwrap_or_default();
            let (own, shaped) = (points(own), points(shaped));
            assert_eq!(own.len(), shaped.len(), "{text}");
            assert!(own.iter().zip(&shaped).all(|(a, b)| a.distance(*b) < 1e-3), "{text}");
        }
    }
}
