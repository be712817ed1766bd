//! Quotes in CSV: which bytes are inside a quoted cell, told by the bytes before them.
//!
//! A cell that begins with a quote ends with the next single quote, and may hold anything; two quotes in it stand for
//! one. Quotes elsewhere are text.

use memchr::memchr;

/// Goes over a text from one quote to the next.
#[derive(Debug)]
pub(crate) struct Quotes {
    /// What separates cells; `None` for text in which quotes have no meaning.
    delimiter: Option<u8>,
    state: State,
    previous: u8,
    stray: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Outside,
    Inside,
    /// Behind a quote inside a cell: another one makes them one quote of the text, anything else ends the quoted part.
    Behind,
}

impl Quotes {
    /// At the beginning of a record.
    pub(crate) fn new(delimiter: Option<u8>) -> Self {
        Quotes { delimiter, state: State::Outside, previous: b'\n', stray: false }
    }

    /// Whether the next byte is in a quoted cell.
    pub(crate) fn are_open(&self) -> bool {
        self.state == State::Inside
    }

    /// Whether text followed a quote that closes a cell.
    pub(crate) fn are_stray(&self) -> bool {
        self.stray
    }

    /// Whether a record begins here, behind a line feed.
    pub(crate) fn at_line_end(&self) -> bool {
        self.state == State::Outside && self.previous == b'\n'
    }

    /// Goes on behind these bytes.
    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        if let Some(delimiter) = self.delimiter {
            self.pass_cells(bytes, delimiter);
        }
        self.previous = bytes.last().copied().unwrap_or(self.previous);
    }

    fn pass_cells(&mut self, bytes: &[u8], delimiter: u8) {
        let divides = |byte| byte == delimiter || byte == b'\n' || byte == b'\r';
        let mut at = 0;
        while at < bytes.len() {
            if self.state == State::Behind && bytes[at] != b'"' {
                self.state = State::Outside;
                self.stray |= !divides(bytes[at]);
            }
            let Some(found) = memchr(b'"', &bytes[at..]) else { return };
            let quote = at + found;
            let before = if quote == 0 { self.previous } else { bytes[quote - 1] };
            self.state = match self.state {
                State::Inside => State::Behind,
                State::Behind => State::Inside,
                State::Outside if divides(before) => State::Inside,
                State::Outside => State::Outside,
            };
            at = quote + 1;
        }
    }
}
