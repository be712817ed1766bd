//! Which file a file is, so that one which is reached by two paths is counted once; and whether it is still the same after
//! it was read.

use std::fs::{File, Metadata};
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use slateval::{Content, Input};
use twox_hash::XxHash64;

use crate::error::{Error, Result, name_of};
use crate::find::detect::{cannot_open, open_file};
use crate::find::place::Place;
use crate::store::Object;

/// Bytes of one look into a file.
const LOOK: u64 = 1 << 14;

/// How many looks are taken, from the first bytes to the last. Smaller files are looked at whole.
const LOOKS: u64 = 8;

/// Some file systems tell times in steps of two seconds: a file that was written so shortly ago may be written again
/// without another time of change.
const SETTLED: Duration = Duration::from_secs(2);

/// A file as it was when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    fingerprint: u64,
    stamp: Stamp,
    /// All of it, if somebody asked for that.
    content: Option<Content>,
}

/// What changes when somebody writes to a file, or puts another in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device and number of the file, where there are such.
    number: Option<(u64, u64)>,
}

impl Identity {
    pub(crate) fn of(place: &Place) -> Result<Identity> {
        match place {
            Place::Local(path) => Identity::of_file(path),
            Place::Object(object) => Ok(Identity::of_object(object)),
        }
    }

    /// An object has a tag or a time of its own: there is no need to look into it.
    fn of_object(object: &Object) -> Identity {
        let mut mix = Mix::default();
        mix.bytes(object.version().as_bytes());
        let stamp = Stamp { bytes: object.size(), modified: None, number: None };
        Identity { fingerprint: mix.0, stamp, content: None }
    }

    fn of_file(path: &Path) -> Result<Identity> {
        let mut file = open_file(path)?;
        let unreadable = |e| Error::unreadable(path, "file", e);
        let stamp = Stamp::of(&file.metadata().map_err(unreadable)?);
        let mut mix = Mix::default();
        look(&mut file, stamp.bytes, &mut mix).map_err(unreadable)?;
        Ok(Identity { fingerprint: mix.0, stamp, content: None })
    }

    /// Refuses a file that is no longer what it was: some of its rows may have been read twice, or not at all.
    pub(crate) fn check(&self, place: &Place) -> Result<()> {
        // Every range of an object's bytes was compared with the object as it was found.
        let Place::Local(path) = place else { return Ok(()) };
        let now = std::fs::metadata(path).map_err(|e| cannot_open(path, &e))?;
        if Stamp::of(&now) == self.stamp { Ok(()) } else { Err(Error::Changed { path: path.into() }) }
    }

    /// Size and fingerprint: the same for all names of a file.
    pub(crate) fn key(&self) -> (u64, u64) {
        (self.stamp.bytes, self.fingerprint)
    }

    /// When the file was last written to, in nanoseconds since 1970; `None` for objects, which have a tag.
    pub(crate) fn modified(&self) -> Option<i64> {
        nanoseconds(self.stamp.modified?)
    }

    /// Looks at all of a local file, so that a summary which has it can tell it from any other of its size.
    pub(crate) fn look_at_all(&mut self, place: &Place) -> Result<()> {
        let Place::Local(path) = place else { return Ok(()) };
        let settled = |time: &SystemTime| time.elapsed().is_ok_and(|age| age > SETTLED);
        let modified = self.stamp.modified.filter(settled).and_then(nanoseconds);
        self.content = Some(Content { hash: hash_of(path)?, modified });
        Ok(())
    }

    /// Whether a local file, which agrees in size and fingerprint, has the content that a summary remembers. It is read
    /// only if it was written to since.
    pub(crate) fn has_content(&self, place: &Place, known: Content) -> Result<bool> {
        match place {
            Place::Local(_) if known.modified.is_some() && known.modified == self.modified() => Ok(true),
            Place::Local(path) => Ok(hash_of(path)? == known.hash),
            Place::Object(_) => Ok(true),
        }
    }

    /// What the system calls the file, by whatever path it was reached, where it has such a name.
    pub(crate) fn number(&self) -> Option<(u64, u64)> {
        self.stamp.number
    }

    /// What a summary remembers of it.
    pub(crate) fn input(&self, path: &Path, row_groups: Option<std::ops::Range<usize>>, rows: u64) -> Input {
        let (bytes, fingerprint) = self.key();
        Input {
            name: name_of(path),
            bytes,
            fingerprint,
            row_groups,
            rows,
            digest: 0,
            day: None,
            first_position: None,
            content: self.content,
        }
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Stamp { bytes: metadata.len(), modified: metadata.modified().ok(), number: number(metadata) }
    }
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> Option<(u64, u64)> {
    None
}

fn nanoseconds(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos()).ok().map(|nanoseconds| -nanoseconds),
    }
}

/// A hash of all bytes of a file.
fn hash_of(path: &Path) -> Result<u64> {
    let mut file = open_file(path)?;
    let mut hash = XxHash64::with_seed(0);
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer).map_err(|e| Error::unreadable(path, "file", e))? {
            0 => return Ok(hash.finish()),
            read => hash.write(&buffer[..read]),
        }
    }
}

/// Looks into a file at equal distances.
fn look(file: &mut File, bytes: u64, mix: &mut Mix) -> std::io::Result<()> {
    let mut seen = Vec::new();
    let last = bytes.saturating_sub(LOOK);
    let looks = if bytes <= LOOK * LOOKS { 1 } else { LOOKS };
    for i in 0..looks {
        let (start, length) = if looks == 1 { (0, bytes) } else { (last / (looks - 1) * i, LOOK) };
        let start = if i > 0 && i + 1 == looks { last } else { start };
        seen.clear();
        file.seek(SeekFrom::Start(start))?;
        file.take(length).read_to_end(&mut seen)?;
        mix.bytes(&seen);
    }
    Ok(())
}

/// A hash that stays the same: it is saved in summaries. Nobody has to be kept from making two files that agree in it.
#[derive(Debug, Default)]
struct Mix(u64);

impl Mix {
    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn word(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word ^ 0xA076_1D64_78BD_642F) * 0xE703_7ED1_A0B4_28DB;
        self.0 = ((wide >> 64) as u64 ^ wide as u64).rotate_left(23);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_size_are_told_apart_and_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let place = |name: &str| Place::from(path(name));
        for size in [0, 1, 5000, 131_072, 131_073, 3_000_000_usize] {
            let content: Vec<u8> = (0..size).map(|i| (i * i % 251) as u8).collect();
            std::fs::write(path("a"), &content).unwrap();
            std::fs::write(path("copy"), &content).unwrap();
            let own = Identity::of(&place("a")).unwrap();
            assert_eq!(own.key(), Identity::of(&place("copy")).unwrap().key());
            for byte in [0, size.saturating_sub(1)].into_iter().filter(|_| size > 0) {
                let mut other = content.clone();
                other[byte] ^= 1;
                std::fs::write(path("other"), other).unwrap();
                assert_ne!(own.key(), Identity::of(&place("other")).unwrap().key(), "{size} bytes, byte {byte}");
            }
            own.check(&place("a")).unwrap();
            std::fs::write(path("a"), b"something else").unwrap();
            assert!(matches!(own.check(&place("a")), Err(Error::Changed { .. })));
        }
    }
}
