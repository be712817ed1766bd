//! Names of logs without the secrets that addresses may hold: users, passwords, signatures.
//!
//! Summaries, results and messages name what was read. An address such as `https://me:pw@host/a.csv?sig=…` is named
//! `https://host/a.csv`. A text that is no address stays as it is.

use std::borrow::Cow;

/// Where names are not secrets but objects: the key of a bucket, a path. `?` and `#` may belong to such a name.
const OF_KEYS: [&str; 11] = ["s3", "s3a", "s3n", "gs", "gcs", "az", "azure", "abfs", "abfss", "file", "dbfs"];

/// Those among them that name no server, as a rule.
const OF_PATHS: [&str; 2] = ["file", "dbfs"];

/// Schemes of which the part before `@` may be a container.
const OF_CONTAINERS: [&str; 4] = ["az", "azure", "abfs", "abfss"];

/// Other schemes that are known wherever they stand: `/here/http:/host/x` is what a path object makes of an address.
const ELSEWHERE: [&str; 10] = ["http", "https", "ftp", "ftps", "sftp", "ssh", "hdfs", "webhdfs", "dav", "davs"];

/// What separates the parts of an address. Some people write it like a path of Windows.
const SLASHES: [char; 2] = ['/', '\\'];

/// The name without what may be a secret, if it is an address or ends in one: without the user and the password, and
/// without what follows `?` or `#`. In keys of buckets and in paths, `?` and `#` stay unless `name=value` follows.
///
/// ```
/// assert_eq!(slateval_stats::redacted("https://me:pw@host/a.csv?sig=1#part"), "https://host/a.csv");
/// assert_eq!(slateval_stats::redacted("s3://bucket/day=?/x#1.csv"), "s3://bucket/day=?/x#1.csv");
/// assert_eq!(slateval_stats::redacted("logs/what?.csv"), "logs/what?.csv");
/// ```
pub fn redacted(name: &str) -> Cow<'_, str> {
    let Some(address) = Found::within(name) else { return Cow::Borrowed(name) };
    let shown = address.shown();
    if shown == name { Cow::Borrowed(name) } else { Cow::Owned(shown) }
}

/// The same for each word of a text: a message of another library, say.
///
/// ```
/// assert_eq!(slateval_stats::redacted_text("GET http://h/x?sig=1 failed"), "GET http://h/x failed");
/// ```
pub fn redacted_text(text: &str) -> Cow<'_, str> {
    let ends_word = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
    if !text.contains(':') && !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let words = text.split_inclusive(ends_word).map(|word| {
        let (own, end) = word.split_at(word.trim_end_matches(ends_word).len());
        redacted(own).into_owned() + end
    });
    let shown: String = words.collect();
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// The command line of these words, as a person types it in a shell, each word [`redacted`].
///
/// ```
/// let words = ["evaluate", "http://me:pw@h/a b.csv?sig=1", "--full"];
/// assert_eq!(slateval_stats::command_line(words), "slateval evaluate 'http://h/a b.csv' --full");
/// ```
pub fn command_line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let quoted = words.into_iter().map(|word| quoted(&redacted(word.as_ref())));
    std::iter::once("slateval".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

/// A command line that was recorded, redacted. One without secrets stays as it is, however it is quoted.
pub fn redacted_command(command: String) -> String {
    let words = unquoted(&command);
    match words.iter().any(|word| redacted(word) != word.as_str()) {
        true => words.iter().map(|word| quoted(&redacted(word))).collect::<Vec<_>>().join(" "),
        false => command,
    }
}

/// A word that a shell leaves as it is.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The words of a command line as [`quoted`] writes them.
fn unquoted(command: &str) -> Vec<String> {
    let (mut words, mut word, mut inside) = (Vec::new(), None::<String>, false);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                inside = !inside;
                word.get_or_insert_default();
            }
            '\\' if !inside => word.get_or_insert_default().extend(letters.next()),
            ' ' if !inside => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// An address, found in a name.
struct Found<'a> {
    /// All up to its scheme's colon and slashes.
    before: &'a str,
    scheme: String,
    rest: &'a str,
}

impl<'a> Found<'a> {
    /// The first address in a name; it reaches to the name's end.
    fn within(name: &'a str) -> Option<Self> {
        let colon = |(at, _): (usize, &str)| Found::at(name, at);
        name.match_indices(':').find_map(colon).or_else(|| Found::without_scheme(name))
    }

    /// The address whose scheme ends at a colon.
    fn at(name: &'a str, colon: usize) -> Option<Self> {
        let (before, behind) = (&name[..colon], &name[colon + 1..]);
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let start = before.trim_end_matches(is_letter).len();
        let scheme = before[start..].trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        let start = colon - scheme.len();
        let inside_path = before[..start].ends_with(['/', '\\']);
        let scheme = scheme.to_ascii_lowercase();
        let is_known = ELSEWHERE.contains(&scheme.as_str()) || OF_KEYS.contains(&scheme.as_str());
        let is_address = behind.starts_with("//")
            || is_known && (behind.starts_with(SLASHES) || !inside_path)
            // A letter alone is a drive.
            || scheme.len() > 1 && behind.starts_with('/') && !inside_path;
        let slashes = behind.len() - behind.trim_start_matches(SLASHES).len();
        let (before, rest) = name.split_at(colon + 1 + slashes);
        is_address.then_some(Found { before, scheme, rest })
    }

    /// `//user:password@host` with whatever before it, `user:password@host`, and `host:80/key?name=value`.
    fn without_scheme(name: &'a str) -> Option<Self> {
        let has_password = |rest: &str| cut(rest).0.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
        let has_port =
            |rest: &str| cut(rest).0.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && is_port(port));
        let has_settings = without_settings(name) != name;
        let mut behind_slashes = name.match_indices("//").map(|(at, _)| at + 2);
        let start = behind_slashes
            .find(|&at| has_password(&name[at..]) || at == 2 && has_settings)
            .or_else(|| (has_password(name) || has_port(name) && has_settings).then_some(0))?;
        let (before, rest) = name.split_at(start);
        Some(Found { before, scheme: String::new(), rest })
    }

    fn shown(&self) -> String {
        let has_keys = OF_KEYS.contains(&self.scheme.as_str());
        let (host, path, had_user) = self.host_and_path();
        let path = if has_keys && !had_user { without_settings(path) } else { until(path, |_| true) };
        format!("{}{host}{}", self.before, redacted(path))
    }

    /// The host, all behind it, and whether there was a user or a password.
    fn host_and_path(&self) -> (&'a str, &'a str, bool) {
        if OF_PATHS.contains(&self.scheme.as_str()) && !self.has_host() {
            return ("", self.rest, false);
        }
        let (authority, path) = cut(self.rest);
        match (authority.rsplit_once('@'), without_port(authority), self.rest.rsplit_once('@')) {
            (Some((user, host)), ..) if self.is_container(user, host) => (authority, path, false),
            (Some((_, host)), ..) => (host, path, true),
            (None, Some(host), None) => (host, path, true),
            // A password with a slash in it, or with a question mark.
            (None, Some(_), Some((_, rest))) => (cut(rest).0, cut(rest).1, true),
            // The same, if it begins like a port and a server's name follows.
            (None, None, Some((before, rest)))
                if authority.contains(':') && !before.ends_with('/') && cut(rest).0.contains(['.', ':']) =>
            {
                (cut(rest).0, cut(rest).1, true)
            }
            (None, None, _) => (authority, path, false),
        }
    }

    /// Whether two slashes stand before the rest, and not one or three.
    fn has_host(&self) -> bool {
        self.before.ends_with("://")
    }

    /// Whether what stands before `@` is a container of Azure's, and no user.
    fn is_container(&self, container: &str, account: &str) -> bool {
        OF_CONTAINERS.contains(&self.scheme.as_str()) && !container.contains(':') && account.contains('.')
    }
}

/// An address behind its slashes, cut where the server's name ends.
fn cut(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()))
}

/// The host, if what follows its colon is no port.
fn without_port(authority: &str) -> Option<&str> {
    let (host, port) = authority.rsplit_once(':')?;
    (!is_port(port)).then_some(host)
}

/// Whether what follows a server's colon is a port, or the end of a number in brackets.
fn is_port(port: &str) -> bool {
    port.chars().all(|c| c.is_ascii_digit()) || port.ends_with(']')
}

/// A key or a path up to `?` or `#` with a `name=value` behind it.
fn without_settings(path: &str) -> &str {
    until(path, |behind| behind.split(SLASHES).next().is_some_and(|settings| settings.contains('=')))
}

/// The text up to the first `?` or `#` behind which something holds.
fn until(path: &str, ends: impl Fn(&str) -> bool) -> &str {
    let end = path.match_indices(['?', '#']).find(|(at, _)| ends(&path[at + 1..]));
    end.map_or(path, |(at, _)| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_an_address_is_left() {
        for (given, wanted) in [
            ("http://USER:PW@h:80/a.csv?sig=SIG#FRAG", "http://h:80/a.csv"),
            ("https://USER@h/a.csv", "https://h/a.csv"),
            ("HTTPS://US%3AER:P%40W@[::1]:8/a.csv#FRAG?SIG", "HTTPS://[::1]:8/a.csv"),
            ("http://USER:P/W?X#Y@h/a.csv?sig=SIG", "http://h/a.csv"),
            ("http://USER:PW@h", "http://h"),
            ("http://h?sig=SIG", "http://h"),
            ("http://USER:PW/a.csv", "http://USER/a.csv"),
            ("http:/USER:PW@h/x?sig=SIG", "http:/h/x"),
            ("http:USER:PW@h/x?sig=SIG", "http:h/x"),
            ("/here/http:/USER:PW@h/x?sig=SIG", "/here/http:/h/x"),
            ("ftp://USER:PW@h/x", "ftp://h/x"),
            ("odd:/USER:PW@h/x?SIG", "odd:/h/x"),
            ("//USER:PW@h/x?SIG", "//h/x"),
            ("//h/x?sig=SIG", "//h/x"),
            ("USER:PW@h:80/x?sig=SIG", "h:80/x"),
            ("h:80/x?sig=SIG", "h:80/x"),
            ("http:\\\\USER:PW@h\\x?sig=SIG", "http:\\\\h\\x"),
            ("http://USER:12/PW@h.example/x?sig=SIG", "http://h.example/x"),
            ("http://USER:12#PW@127.0.0.1:80/x", "http://127.0.0.1:80/x"),
            ("s3://KEY:SECRET@b/k?SIG#FRAG", "s3://b/k"),
            ("s3://b/k?X-Amz-Signature=SIG&b=2", "s3://b/k"),
            ("s3://b/k?a&sig=SIG", "s3://b/k"),
            ("gs://b/k?&access_token=SIG", "gs://b/k"),
            ("az://c/k?sv=1&sig=SIG", "az://c/k"),
            ("abfss://c@a.dfs.core.windows.net/k#sig=SIG", "abfss://c@a.dfs.core.windows.net/k"),
            ("abfss://USER:PW@a.dfs.core.windows.net/k", "abfss://a.dfs.core.windows.net/k"),
            ("file://USER:PW@h/x?sig=SIG", "file://h/x"),
            ("--json=http://USER:PW@h/x?SIG", "--json=http://h/x"),
            ("http://h/a,http://USER:PW@h/b", "http://h/a,http://h/b"),
        ] {
            assert_eq!(redacted(given), wanted, "{given}");
            assert_eq!(redacted(wanted), wanted, "once is enough");
        }
    }

    #[test]
    fn names_that_hold_no_secret_stay() {
        for name in [
            "logs/day=1/what?.csv",
            "me@here/log#1.csv",
            "C:/logs/a?.csv",
            "C:\\logs\\a#1.csv",
            "logs/day:/a#1.csv",
            "at 10:30/a?b.csv",
            "s3://b/day=?/part#1.csv",
            "s3://b/[ab]?/x=1/k.csv",
            "abfss://c@a.dfs.core.windows.net/me@here.csv",
            "file:///me@here/a?.csv",
            "dbfs:/me@here/a.csv",
            "http://h:8080/@scope/day=1/a.csv",
            "http://[::1]/a.csv",
            "",
            "-",
        ] {
            assert!(matches!(redacted(name), Cow::Borrowed(same) if same == name), "{name}: {}", redacted(name));
            assert_eq!(redacted_command(name.into()), name);
        }
    }

    #[test]
    fn recorded_commands_are_redacted_word_by_word() {
        let recorded = "slateval update s.slateval 'http://USER:PW@h/it'\\''s a.csv?a=SIG b' --by 'a b' ftp://USER@h/x";
        let wanted = "slateval update s.slateval 'http://h/it'\\''s a.csv' --by 'a b' ftp://h/x";
        assert_eq!(redacted_command(recorded.into()), wanted);
        assert_eq!(redacted_command("slateval 'http://h/x?SIG".into()), "slateval http://h/x", "a quote without end");
        assert_eq!(
            command_line(["evaluate", "it's $HOME", "", "logs/*.csv"]),
            r"slateval evaluate 'it'\''s $HOME' '' 'logs/*.csv'"
        );
        assert_eq!(
            redacted_text("GET <http://h/x?SIG> for \"http://USER:PW@h/y\": no"),
            "GET <http://h/x> for \"http://h/y\": no"
        );
    }
}
