//! Latin, Greek and Cyrillic letters as outlines: a reader for the one font of this crate, and no other. It has what that
//! font has: one table of letters, outlines of quadratic curves, composed glyphs that are only shifted, and kerning by
//! classes for Latin.

use tiny_skia::PathBuilder;

pub(super) const FONT: &[u8] = include_bytes!("../../assets/fonts/DejaVuSans.ttf");

/// A line whose baseline begins at the origin.
pub(super) struct Line {
    /// None if there is nothing to be seen.
    pub(super) outline: Option<tiny_skia::Path>,
    pub(super) width: f32,
}

/// Whether the font has a letter.
#[cfg(feature = "all-scripts")]
pub(super) fn has(c: char) -> bool {
    glyph(c).is_some()
}

/// Letters that the font lacks become question marks: its sign for missing letters is blank. That of a missing segment has
/// a letter that looks like it.
pub(super) fn line(text: &str, size: f32) -> Line {
    let per_em = table(b"head").and_then(|head| word(head, 18)).unwrap_or(2048);
    let mut pen = Pen { path: PathBuilder::new(), x: 0.0, scale: size / f32::from(per_em) };
    let glyphs: Vec<u16> = text.chars().filter_map(|c| glyph(c).or_else(|| glyph(stand_in(c)))).collect();
    let is_latin = text.chars().find(|c| c.is_alphabetic()).is_some_and(|c| c < '\u{250}');
    let mut x = 0;
    for (i, &glyph) in glyphs.iter().enumerate() {
        pen.x = x as f32 * pen.scale;
        // Never without: a test draws every letter.
        let _ = draw(glyph, (0, 0), &mut pen);
        let kern = glyphs.get(i + 1).filter(|_| is_latin).and_then(|&next| kerning(glyph, next));
        x += i32::from(advance(glyph).unwrap_or(0)) + i32::from(kern.unwrap_or(0));
    }
    Line { outline: pen.path.finish(), width: x as f32 * pen.scale }
}

fn stand_in(c: char) -> char {
    if c == '∅' { 'Ø' } else { '?' }
}

/// Where glyphs are drawn: their y axis goes up, the drawing's goes down.
struct Pen {
    path: PathBuilder,
    x: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, (x, y): (f32, f32)) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

fn word(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(data.get(at..at + 2)?.try_into().ok()?))
}

fn signed(data: &[u8], at: usize) -> Option<i16> {
    word(data, at).map(u16::cast_signed)
}

fn table(name: &[u8; 4]) -> Option<&'static [u8]> {
    let entry = FONT[12..].chunks_exact(16).take(usize::from(word(FONT, 4)?)).find(|entry| entry.starts_with(name))?;
    let number = |at: usize| Some(u32::from_be_bytes(entry.get(at..at + 4)?.try_into().ok()?) as usize);
    FONT.get(number(8)?..)?.get(..number(12)?)
}

/// The glyph of a letter (`cmap`, format 4).
fn glyph(c: char) -> Option<u16> {
    let cmap = table(b"cmap")?;
    let map = cmap.get(u32::from_be_bytes(cmap.get(8..12)?.try_into().ok()?) as usize..)?;
    let (letter, size) = (u16::try_from(u32::from(c)).ok()?, usize::from(word(map, 6)?));
    let range = (14..14 + size).step_by(2).find(|&at| word(map, at).is_some_and(|last| letter <= last))?;
    let (first, delta) = (word(map, range + 2 + size)?, word(map, range + 2 + 2 * size)?);
    Some(letter.wrapping_add(delta)).filter(|&glyph| letter >= first && glyph != 0)
}

fn advance(glyph: u16) -> Option<u16> {
    word(table(b"hmtx")?, 4 * usize::from(glyph))
}

/// By how much the second glyph is shifted (`GPOS`: one lookup with one table of pairs of classes).
fn kerning(first: u16, second: u16) -> Option<i16> {
    let gpos = table(b"GPOS")?;
    let lookups = usize::from(word(gpos, 8)?);
    let lookup = lookups + usize::from(word(gpos, lookups + 2)?);
    let pairs = gpos.get(lookup + usize::from(word(gpos, lookup + 6)?)..)?;
    let part = |at: usize| pairs.get(usize::from(word(pairs, at)?)..);
    let covered = part(2)?;
    let mut glyphs = (0..usize::from(word(covered, 2)?)).filter_map(|i| word(covered, 4 + 2 * i));
    glyphs.find(|&glyph| glyph == first)?;
    let classes = usize::from(word(pairs, 14)?);
    signed(pairs, 16 + 2 * (class(part(8)?, first) * classes + class(part(10)?, second)))
}

/// The class of a glyph in ranges of glyphs; those outside are in class 0.
fn class(ranges: &[u8], glyph: u16) -> usize {
    let holds = |range: &&[u8]| {
        word(range, 0).is_some_and(|first| first <= glyph) && word(range, 2).is_some_and(|last| glyph <= last)
    };
    let range = ranges.get(4..).and_then(|ranges| ranges.chunks_exact(6).find(holds));
    range.and_then(|range| word(range, 4)).map_or(0, usize::from)
}

/// Draws a glyph (`glyf`), shifted; the glyphs that it is composed of, if it is.
fn draw(glyph: u16, shift: (i16, i16), pen: &mut Pen) -> Option<()> {
    let (places, glyphs) = (table(b"loca")?, table(b"glyf")?);
    let place = |glyph: usize| word(places, 2 * glyph).map(|half| 2 * usize::from(half));
    let data = glyphs.get(place(usize::from(glyph))?..place(usize::from(glyph) + 1)?)?;
    match signed(data, 0) {
        // A space.
        None => Some(()),
        Some(contours @ 0..) => outline(data, contours as usize, shift, pen),
        Some(_) => composed(data, shift, pen),
    }
}

fn composed(data: &[u8], (x, y): (i16, i16), pen: &mut Pen) -> Option<()> {
    let mut at = 10;
    loop {
        let (flags, glyph) = (word(data, at)?, word(data, at + 2)?);
        let own = if flags & 1 != 0 {
            (signed(data, at + 4)?, signed(data, at + 6)?)
        } else {
            (i16::from(data.get(at + 4)?.cast_signed()), i16::from(data.get(at + 5)?.cast_signed()))
        };
        draw(glyph, (x + own.0, y + own.1), pen)?;
        at += if flags & 1 != 0 { 8 } else { 6 };
        if flags & 0x20 == 0 {
            return Some(());
        }
    }
}

/// A point of a contour, and whether the contour passes through it.
type Point = ((f32, f32), bool);

fn outline(data: &[u8], contours: usize, shift: (i16, i16), pen: &mut Pen) -> Option<()> {
    let ends: Vec<usize> = (0..contours).map(|i| word(data, 10 + 2 * i).map(usize::from)).collect::<Option<_>>()?;
    let count = ends.last()? + 1;
    let instructions = 10 + 2 * contours;
    let mut at = instructions + 2 + usize::from(word(data, instructions)?);
    let mut flags = Vec::with_capacity(count);
    while flags.len() < count {
        let flag = *data.get(at)?;
        let repeated = if flag & 8 != 0 { usize::from(*data.get(at + 1)?) } else { 0 };
        at += if flag & 8 != 0 { 2 } else { 1 };
        flags.extend(std::iter::repeat_n(flag, 1 + repeated));
    }
    let xs = coordinates(data, &mut at, &flags, (2, 16), shift.0)?;
    let ys = coordinates(data, &mut at, &flags, (4, 32), shift.1)?;
    let points: Vec<Point> = xs.into_iter().zip(ys).zip(&flags).map(|(place, flag)| (place, flag & 1 != 0)).collect();
    let mut from = 0;
    for end in ends {
        contour(points.get(from..=end)?, pen);
        from = end + 1;
    }
    Some(())
}

/// One coordinate of all points, each stored as the difference to the one before: a byte whose sign is in the flags, two
/// bytes, or nothing if it is the same.
fn coordinates(data: &[u8], at: &mut usize, flags: &[u8], (short, same): (u8, u8), first: i16) -> Option<Vec<f32>> {
    let mut value = first;
    let mut next = |flag: &u8| {
        let (difference, bytes) = match (flag & short != 0, flag & same != 0) {
            (true, positive) => {
                let byte = i16::from(*data.get(*at)?);
                (if positive { byte } else { -byte }, 1)
            }
            (false, true) => (0, 0),
            (false, false) => (signed(data, *at)?, 2),
        };
        *at += bytes;
        value += difference;
        Some(f32::from(value))
    };
    flags.iter().map(&mut next).collect()
}

/// A closed line through points. Between two points that it only bends towards, it passes through the middle.
fn contour(points: &[Point], pen: &mut Pen) {
    let middle = |a: (f32, f32), b: (f32, f32)| ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    let start = match (first.1, last.1) {
        (true, _) => first.0,
        (false, true) => last.0,
        (false, false) => middle(first.0, last.0),
    };
    let (x, y) = pen.at(start);
    pen.path.move_to(x, y);
    let mut bend: Option<(f32, f32)> = None;
    let mut go = |to: (f32, f32), bend: Option<(f32, f32)>| {
        let (x, y) = pen.at(to);
        match bend.map(|bend| pen.at(bend)) {
            Some((x1, y1)) => pen.path.quad_to(x1, y1, x, y),
            None => pen.path.line_to(x, y),
        }
    };
    for &(place, is_on) in &points[usize::from(first.1)..] {
        match bend {
            _ if is_on => go(place, bend.take()),
            Some(before) => go(middle(before, place), bend.replace(place)),
            None => bend = Some(place),
        }
    }
    if bend.is_some() {
        go(start, bend);
    }
    pen.path.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_can_be_drawn() {
        let letters: Vec<char> = ('\u{20}'..'\u{ffff}').filter(|&c| glyph(c).is_some()).collect();
        assert!(letters.len() > 500 && ['a', 'ß', 'Ω', 'ж', '’', '−', '↑'].iter().all(|c| letters.contains(c)));
        for c in letters {
            let mut pen = Pen { path: PathBuilder::new(), x: 0.0, scale: 1.0 };
            assert!(draw(glyph(c).unwrap_or(0), (0, 0), &mut pen).is_some(), "{c}");
            let is_blank = c.is_whitespace() || c == '\u{ad}';
            assert!(advance(glyph(c).unwrap_or(0)) > Some(0) && (is_blank || !pen.path.is_empty()), "{c}");
        }
    }

    #[test]
    fn latin_letters_are_kerned() {
        let width = |text: &str| line(text, 2048.0).width;
        assert!(width("AV") < width("A") + width("V"));
        assert!((width("ΑΥ") - width("Α") - width("Υ")).abs() < 1e-3);
        assert!((width("∅") - width("Ø")).abs() < 1e-3 && width("∅") > width("?"));
        assert!(line(" ", 12.0).outline.is_none() && line("\u{5d0}", 12.0).outline.is_some());
    }
}
