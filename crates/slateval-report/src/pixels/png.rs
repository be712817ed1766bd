//! Pixels as a PNG file. The drawing is opaque, so three bytes a pixel are enough.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use tiny_skia::Pixmap;

/// Eight bits for each of red, green and blue; no interlacing.
const FORMAT: [u8; 5] = [8, 2, 0, 0, 0];

/// Each byte as the difference to the one above it: most lines of a plot are like the line before.
const UP: u8 = 2;

pub(super) fn encode(pixels: &Pixmap) -> Result<Vec<u8>, String> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let sides = [pixels.width().to_be_bytes(), pixels.height().to_be_bytes()];
    chunk(&mut file, b"IHDR", &[sides.as_flattened(), &FORMAT].concat());
    chunk(&mut file, b"IDAT", &compressed(pixels).map_err(|e| e.to_string())?);
    chunk(&mut file, b"IEND", &[]);
    Ok(file)
}

fn compressed(pixels: &Pixmap) -> std::io::Result<Vec<u8>> {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::default());
    let width = pixels.width() as usize;
    let mut above = vec![0; 3 * width];
    for line in pixels.pixels().chunks_exact(width) {
        let line: Vec<u8> = line.iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
        let differences: Vec<u8> = line.iter().zip(&above).map(|(own, above)| own.wrapping_sub(*above)).collect();
        out.write_all(&[UP])?;
        out.write_all(&differences)?;
        above = line;
    }
    out.finish()
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let from = file.len();
    file.extend(kind);
    file.extend(content);
    file.extend(crc32fast::hash(&file[from..]).to_be_bytes());
}
