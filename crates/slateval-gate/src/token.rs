//! A requirement's text in pieces.

/// A piece, and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    Number(f64),
    Word(String),
    Quoted(String),
    Relation(Relation),
    Plus,
    Minus,
    Times,
    Open,
    Close,
    Comma,
    End,
}

/// How the two sides of a requirement are to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

impl Relation {
    /// The same of the negated sides.
    pub(crate) fn turned(self) -> Self {
        match self {
            Relation::AtLeast => Relation::AtMost,
            Relation::Above => Relation::Below,
            Relation::AtMost => Relation::AtLeast,
            Relation::Below => Relation::Above,
        }
    }

    /// As it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Relation::AtLeast => ">=",
            Relation::Above => ">",
            Relation::AtMost => "<=",
            Relation::Below => "<",
        }
    }
}

/// What is wrong, and where in the requirement.
pub(crate) type Slip = (usize, String);

/// Cuts a requirement into pieces; the last one is its end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Slip> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = match c {
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '0'..='9' | '.' => number(rest).map_err(|message| (at, message))?,
            '"' | '\'' => quoted(rest, c).map_err(|message| (at, message))?,
            c if c.is_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                (TokenKind::Word(rest[..end].to_owned()), end)
            }
            _ => sign(rest, c).map_err(|message| (at, message))?,
        };
        found.push(Token { kind, at });
        at += length;
    }
    found.push(Token { kind: TokenKind::End, at: text.len() });
    Ok(found)
}

fn number(rest: &str) -> Result<(TokenKind, usize), String> {
    let digits = |from: usize| {
        let end = rest[from..].find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'));
        end.map_or(rest.len(), |end| from + end)
    };
    let mut end = digits(0);
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        if rest[end + 1 + sign..].starts_with(|c: char| c.is_ascii_digit()) {
            end = digits(end + 1 + sign);
        }
    }
    let text = rest[..end].replace('_', "");
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value.ok_or_else(|| format!("`{}` is no number", &rest[..end]))?;
    match rest[end..].chars().next() {
        Some('%') => Err(format!("write {} in place of {}%", value / 100.0, &rest[..end])),
        Some(c) if c.is_alphabetic() || c == '_' => {
            Err(format!("`{}{c}…` is no number; between a number and a metric write *", &rest[..end]))
        }
        _ => Ok((TokenKind::Number(value), end)),
    }
}

fn quoted(rest: &str, quote: char) -> Result<(TokenKind, usize), String> {
    let (mut name, mut escaped) = (String::new(), false);
    for (place, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => {
                name.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            c if c == quote => return Ok((TokenKind::Quoted(name), place + 1)),
            c => name.push(c),
        }
    }
    Err(format!("this name has no closing {quote}"))
}

fn sign(rest: &str, first: char) -> Result<(TokenKind, usize), String> {
    let starts = |with: &str| rest.starts_with(with);
    if starts("=>") {
        return Err("write >= in place of =>".to_owned());
    }
    if starts("=<") {
        return Err("write <= in place of =<".to_owned());
    }
    if starts("=") || starts("!=") || starts("<>") {
        let what = if starts("==") { "==" } else { &rest[..rest.len().min(if starts("=") { 1 } else { 2 })] };
        return Err(format!("an estimate is never exactly some number: write >=, >, <= or < in place of {what}"));
    }
    let simple = match first {
        '+' => TokenKind::Plus,
        '-' | '−' | '–' => TokenKind::Minus,
        '*' | '·' | '×' => TokenKind::Times,
        '(' => TokenKind::Open,
        ')' => TokenKind::Close,
        ',' => TokenKind::Comma,
        '≥' => TokenKind::Relation(Relation::AtLeast),
        '≤' => TokenKind::Relation(Relation::AtMost),
        '>' if starts(">=") => return Ok((TokenKind::Relation(Relation::AtLeast), 2)),
        '<' if starts("<=") => return Ok((TokenKind::Relation(Relation::AtMost), 2)),
        '>' => TokenKind::Relation(Relation::Above),
        '<' => TokenKind::Relation(Relation::Below),
        '/' => return Err("there is no division: multiply, by 0.5 in place of dividing by 2".to_owned()),
        c => return Err(format!("`{c}` means nothing here; a policy whose name has it goes into quotes: mean(\"…\")")),
    };
    Ok((simple, first.len_utf8()))
}
