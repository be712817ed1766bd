//! Drawings as pixels.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use resvg::{tiny_skia, usvg};

use crate::Error;
use crate::whole::ending;

const FONT: &[u8] = include_bytes!("../assets/fonts/DejaVuSans.ttf");

/// Pixels for each unit of the drawing.
const SCALE: f32 = 2.0;

/// An SVG as PNG.
pub(crate) fn encode(drawing: &str) -> Result<Vec<u8>, Error> {
    let failed = |reason: String| Error::Encode { what: "the plot", reason };
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    if has_other_scripts(drawing) {
        system_fonts().iter().filter_map(|path| std::fs::read(path).ok()).for_each(|data| fonts.load_font_data(data));
    }
    let options =
        usvg::Options { fontdb: Arc::new(fonts), font_family: "DejaVu Sans".into(), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(drawing, &options).map_err(|e| failed(e.to_string()))?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or_else(|| failed("it has no size".into()))?;
    let mut pixels =
        tiny_skia::Pixmap::new(size.width(), size.height()).ok_or_else(|| failed("it is too large".into()))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| failed(e.to_string()))
}

/// Whether there are letters that the crate's own font does not have.
fn has_other_scripts(drawing: &str) -> bool {
    drawing.chars().any(|c| {
        !matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{17f}' | '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{45f}' | '\u{2010}'..='\u{2015}' | '’' | '…' | '−' | '↑' | '↓')
    })
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
