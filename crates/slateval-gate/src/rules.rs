//! A rules file: what is required, with which confidence.

use std::ops::Range;

use serde::Serialize;
use slateval::{LOGGING, Spec};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::expression::{Requirement, parse};
use crate::source::{Mistake, Position, Source, nearest, places};

/// Rules that a policy must meet.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The probability with which a rule that is said to hold does hold: one-sided, above 1/2 and below 1.
    pub confidence: f64,
    /// Whether many rules share it.
    pub adjust: Adjust,
    /// The rules, at least one.
    pub rules: Vec<Rule>,
    file: String,
    text: String,
}

/// Whether the confidence holds for each rule, or for all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Adjust {
    /// For each by itself.
    #[default]
    None,
    /// For all at once, over rules and segments.
    Bonferroni,
}

/// What a rule is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judge {
    /// By the end of an interval: whether the log shows that the rule is met.
    #[default]
    Bound,
    /// By the estimate alone.
    Point,
}

/// Where a rule has to be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// In the whole log.
    #[default]
    Whole,
    /// In each segment by itself.
    Each,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name; as it is required, if it has none.
    pub name: String,
    /// What is required, as written.
    pub require: String,
    /// What it is judged by.
    pub judge: Judge,
    /// Where it has to be met.
    pub scope: Scope,
    /// Where the requirement stands in the file.
    pub position: Position,
    pub(crate) requirement: Requirement,
    /// Where in the file each byte of the requirement stands.
    places: Vec<usize>,
    /// Where the key `segments` has its value.
    scope_at: usize,
}

impl Rules {
    /// Reads a rules file; `file` is its name in messages.
    ///
    /// # Errors
    /// The first [`Mistake`], with its place and what to write instead.
    ///
    /// ```
    /// let text = "[[rule]]\nrequire = 'mean(new) >= 0.98*mean(logging)'\n";
    /// let rules = slateval_gate::Rules::parse(text, "rules.toml")?;
    /// assert_eq!(rules.confidence, 0.95);
    ///
    /// let mistake = slateval_gate::Rules::parse("[[rule]]\nrequire = 'men(new) > 0'\n", "rules.toml").unwrap_err();
    /// assert!(mistake.to_string().starts_with("rules.toml:2:12: there is no function `men`; did you mean `mean`?"));
    /// # Ok::<(), slateval_gate::Mistake>(())
    /// ```
    pub fn parse(text: &str, file: &str) -> Result<Self, Mistake> {
        // A byte order mark is no part of the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let source = Source { file, text };
        let document = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(text.len(), |span| span.start);
            source.mistake(at, format!("this is no TOML: {}", error.message().trim().replace('\n', ", ")))
        })?;
        let top = Keys { source, table: document.get_ref(), known: &["confidence", "adjust", "rule"], what: "rules" };
        top.check()?;
        let confidence = top.confidence()?.unwrap_or(0.95);
        let adjust = top.choice("adjust", &[("none", Adjust::None), ("bonferroni", Adjust::Bonferroni)], "")?;
        let rules = match top.get("rule") {
            None => Vec::new(),
            Some((_, value)) => rules(source, value)?,
        };
        if rules.is_empty() {
            let message = "there are no rules: write [[rule]] and below it require = \"mean(new) >= mean(logging)\"";
            return Err(source.mistake(text.len(), message));
        }
        Ok(Rules { confidence, adjust, rules, file: file.to_owned(), text: text.to_owned() })
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Whether a summary of this specification has the policies and segments that the rules are about.
    ///
    /// # Errors
    /// The first [`Mistake`].
    pub fn check_for(&self, spec: &Spec) -> Result<(), Mistake> {
        let source = Source { file: &self.file, text: &self.text };
        let known: Vec<&str> = std::iter::once(LOGGING).chain(spec.policies.iter().map(|p| p.name.as_str())).collect();
        for rule in &self.rules {
            for term in &rule.requirement.sum.terms {
                if !known.contains(&term.policy.as_str()) {
                    let list: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                    let meant = nearest(&term.policy, known.iter().copied());
                    let meant = meant.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
                    let message = format!("there is no policy `{}`, only {}{meant}", term.policy, list.join(", "));
                    let at = rule.places.get(term.at).copied().unwrap_or_default();
                    return Err(source.mistake(at, message));
                }
            }
            if rule.scope == Scope::Each && spec.by.is_none() {
                let message = "there are no segments: give --by COLUMN, or a summary that was made with it";
                return Err(source.mistake(rule.scope_at, message));
            }
        }
        Ok(())
    }

    /// Refuses a confidence that no one-sided bound can have.
    ///
    /// # Errors
    /// Why.
    pub fn check_confidence(confidence: f64) -> Result<(), String> {
        if confidence > 0.5 && confidence < 1.0 {
            return Ok(());
        }
        let percent = if (50.0..100.0).contains(&confidence) {
            format!("; for {confidence}% write {}", confidence / 100.0)
        } else {
            String::new()
        };
        Err(format!("a one-sided confidence must be above 0.5 and below 1{percent}"))
    }
}

/// Rules of one file at most: each takes its own time.
const MOST_RULES: usize = 1000;

fn rules(source: Source<'_>, value: &Spanned<DeValue<'_>>) -> Result<Vec<Rule>, Mistake> {
    let message = "rules are written one by one, each below a line [[rule]]";
    match value.get_ref() {
        DeValue::Array(tables) if tables.len() > MOST_RULES => {
            let at = tables.get(MOST_RULES).map_or(value.span().start, |table| table.span().start);
            let message = format!("there are {} rules, and at most {MOST_RULES} are judged at a time", tables.len());
            Err(source.mistake(at, message))
        }
        DeValue::Array(tables) => tables
            .iter()
            .map(|table| match table.get_ref() {
                DeValue::Table(keys) => rule(source, keys, table.span()),
                _ => Err(source.mistake(table.span().start, message)),
            })
            .collect(),
        DeValue::Table(_) => Err(source.mistake(value.span().start, "write [[rule]], with two brackets")),
        _ => Err(source.mistake(value.span().start, message)),
    }
}

fn rule(source: Source<'_>, table: &DeTable<'_>, span: Range<usize>) -> Result<Rule, Mistake> {
    let keys = Keys { source, table, known: &["name", "require", "judge", "segments"], what: "a rule" };
    keys.check()?;
    let Some((require, at)) = keys.string("require")? else {
        let message = "this rule has no `require`: write require = \"mean(new) >= mean(logging)\"";
        return Err(source.mistake(span.start, message));
    };
    let places = places(source.text, at, &require);
    let place = |offset: usize| places.get(offset).or(places.last()).copied().unwrap_or_default();
    let requirement = parse(&require).map_err(|(offset, message)| source.mistake(place(offset), message))?;
    let judge = keys.choice("judge", &[("bound", Judge::Bound), ("point", Judge::Point)], "")?;
    let scope = keys.choice("segments", &[("each", Scope::Each)], "; leave it out for the whole log")?;
    let name = keys.string("name")?.map(|(name, _)| name).filter(|name| !name.trim().is_empty());
    let scope_at = keys.get("segments").map_or(span.start, |(_, value)| value.span().start);
    let position = source.position(place(0));
    Ok(Rule {
        name: name.unwrap_or_else(|| require.clone()),
        require,
        judge,
        scope,
        position,
        requirement,
        places,
        scope_at,
    })
}

/// A table whose keys are known.
struct Keys<'a, 'i> {
    source: Source<'a>,
    table: &'a DeTable<'i>,
    known: &'a [&'static str],
    what: &'static str,
}

impl<'a, 'i> Keys<'a, 'i> {
    /// The key's place, and its value.
    fn get(&self, key: &str) -> Option<(Range<usize>, &'a Spanned<DeValue<'i>>)> {
        self.table.iter().find(|(k, _)| k.get_ref() == key).map(|(k, value)| (k.span(), value))
    }

    /// Refuses the first unknown key.
    fn check(&self) -> Result<(), Mistake> {
        let is_unknown = |key: &&Spanned<std::borrow::Cow<'i, str>>| !self.known.contains(&key.get_ref().as_ref());
        let Some(key) = self.table.keys().filter(is_unknown).min_by_key(|key| key.span().start) else { return Ok(()) };
        let meant = nearest(key.get_ref(), self.known.iter().copied());
        let advice =
            meant.map_or_else(|| format!("known are {}", self.known.join(", ")), |k| format!("did you mean `{k}`?"));
        Err(self.source.mistake(key.span().start, format!("{} has no key `{}`; {advice}", self.what, key.get_ref())))
    }

    fn string(&self, key: &str) -> Result<Option<(String, Range<usize>)>, Mistake> {
        let Some((_, value)) = self.get(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) => Ok(Some((text.to_string(), value.span()))),
            other => {
                let message = format!("`{key}` must be text in quotes, and this is {}", kind(other));
                Err(self.source.mistake(value.span().start, message))
            }
        }
    }

    fn choice<T: Copy + Default>(&self, key: &str, choices: &[(&str, T)], advice: &str) -> Result<T, Mistake> {
        let Some((text, at)) = self.string(key)? else { return Ok(T::default()) };
        match choices.iter().find(|(name, _)| *name == text) {
            Some((_, choice)) => Ok(*choice),
            None => {
                let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
                let message = format!("`{key}` must be {}{advice}", names.join(" or "));
                Err(self.source.mistake(at.start, message))
            }
        }
    }

    fn confidence(&self) -> Result<Option<f64>, Mistake> {
        let Some((_, value)) = self.get("confidence") else { return Ok(None) };
        let wrong = |message: String| self.source.mistake(value.span().start, message);
        let number = match value.get_ref() {
            DeValue::Float(number) => number.as_str(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            other => {
                return Err(wrong(format!("`confidence` must be a number, such as 0.95, and this is {}", kind(other))));
            }
        };
        let number = number.replace('_', "").parse().unwrap_or(f64::NAN);
        Rules::check_confidence(number).map_err(|why| wrong(format!("`confidence`: {why}")))?;
        Ok(Some(number))
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
