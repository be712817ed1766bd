//! What a rule requires: two sums of metrics, compared.

use slateval::{Metric, Settings};

use crate::source::nearest;
use crate::token::{Relation, Slip, Token, TokenKind, tokens};

/// A metric as it is written: which value at risk it is depends on the tail that is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    Of(Metric),
    Var(f64),
}

/// A quantity of a policy, times a number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    pub(crate) coefficient: f64,
    pub(crate) quantity: Quantity,
    pub(crate) policy: String,
    /// Where the policy stands in the requirement.
    pub(crate) at: usize,
}

/// A sum of terms and a constant.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sum {
    pub(crate) terms: Vec<Term>,
    pub(crate) constant: f64,
}

/// `sum relation 0`: the right side has been taken off the left one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Requirement {
    pub(crate) sum: Sum,
    pub(crate) relation: Relation,
}

impl Quantity {
    pub(crate) fn metric(self, settings: &Settings) -> Metric {
        match self {
            Quantity::Of(metric) => metric,
            Quantity::Var(alpha) => Metric::var(alpha, settings),
        }
    }
}

impl Requirement {
    /// Whether it rests on anything that is not known without error.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.sum.terms.iter().any(|term| term.coefficient != 0.0 && term.quantity != Quantity::Of(Metric::Ess))
    }
}

/// What two numbers add up to, and nothing where all that is left of them is rounding.
fn cancelled(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum.abs() <= 1e-12 * a.abs().max(b.abs()) { 0.0 } else { sum }
}

impl Sum {
    fn plus(mut self, other: Sum, by: f64) -> Self {
        for term in other.terms {
            let same = |own: &&mut Term| own.quantity == term.quantity && own.policy == term.policy;
            match self.terms.iter_mut().find(same) {
                Some(own) => own.coefficient = cancelled(own.coefficient, by * term.coefficient),
                None => self.terms.push(Term { coefficient: by * term.coefficient, ..term }),
            }
        }
        self.constant += by * other.constant;
        self
    }

    fn times(mut self, by: f64) -> Self {
        self.terms.iter_mut().for_each(|term| term.coefficient *= by);
        self.constant *= by;
        self
    }

    /// Refuses what has grown beyond any number at a sign.
    fn finite(self, at: usize) -> Result<Self, Slip> {
        if self.constant.is_finite() && self.terms.iter().all(|term| term.coefficient.is_finite()) {
            return Ok(self);
        }
        Err((at, "this comes to more than a number can hold".to_owned()))
    }
}

/// The functions, with an example of each.
const FUNCTIONS: [(&str, &str); 8] = [
    ("mean", "mean(new)"),
    ("variance", "variance(new)"),
    ("std", "std(new)"),
    ("quantile", "quantile(new, 0.5)"),
    ("var", "var(new, 0.1)"),
    ("cvar", "cvar(new, 0.1)"),
    ("prob", "prob(new <= 0)"),
    ("ess", "ess(new)"),
];

/// Reads a requirement.
pub(crate) fn parse(text: &str) -> Result<Requirement, Slip> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    let left = parser.sum()?;
    let (relation, compared_at) = match parser.take() {
        Token { kind: TokenKind::Relation(relation), at } => (relation, at),
        Token { kind: TokenKind::End, at } => {
            return Err((at, "a comparison is missing: write >=, >, <= or <, and a number or another metric".into()));
        }
        token => return Err(parser.surplus(&token)),
    };
    let right = parser.sum()?;
    match parser.take() {
        Token { kind: TokenKind::End, .. } => {}
        Token { kind: TokenKind::Relation(_), at } => {
            return Err((at, "a rule has one comparison: write a second rule for the other".into()));
        }
        token => return Err(parser.surplus(&token)),
    }
    let sum = left.plus(right, -1.0).finite(compared_at)?;
    if sum.terms.is_empty() {
        return Err((0, "this asks nothing of any policy: write a metric, for example mean(new)".into()));
    }
    if sum.terms.iter().all(|term| term.coefficient == 0.0) {
        return Err((0, "this asks nothing of any policy: its metrics cancel or are multiplied by 0".into()));
    }
    Ok(Requirement { sum, relation })
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

/// Parentheses inside each other: more are a slip, and would overflow the stack.
const DEEPEST: usize = 50;

impl Parser {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.next].kind
    }

    fn at(&self) -> usize {
        self.tokens[self.next].at
    }

    /// The next piece; the end stays where it is.
    fn take(&mut self) -> Token {
        let token = self.tokens[self.next].clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn sum(&mut self) -> Result<Sum, Slip> {
        let mut sum = self.product()?;
        loop {
            let by = match self.peek() {
                TokenKind::Plus => 1.0,
                TokenKind::Minus => -1.0,
                _ => return Ok(sum),
            };
            let sign = self.take();
            sum = sum.plus(self.product()?, by).finite(sign.at)?;
        }
    }

    fn product(&mut self) -> Result<Sum, Slip> {
        let mut product = self.factor()?;
        while *self.peek() == TokenKind::Times {
            let times = self.take();
            let other = self.factor()?;
            product = match (product.terms.is_empty(), other.terms.is_empty()) {
                (true, _) => other.times(product.constant),
                (_, true) => product.times(other.constant),
                _ => {
                    let message = "only linear rules can be judged: one side of * must be a number, not a metric";
                    return Err((times.at, message.to_owned()));
                }
            };
            product = product.finite(times.at)?;
        }
        Ok(product)
    }

    fn factor(&mut self) -> Result<Sum, Slip> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((self.at(), "this is nested too deeply".into()));
        }
        let token = self.take();
        let factor = match token.kind {
            TokenKind::Minus => self.factor()?.times(-1.0),
            TokenKind::Plus => self.factor()?,
            TokenKind::Number(constant) => Sum { terms: Vec::new(), constant },
            TokenKind::Open => {
                let sum = self.sum()?;
                if matches!(self.peek(), TokenKind::Relation(_)) && self.closes_later() {
                    let message = "a comparison stands outside parentheses: write it without those around it";
                    return Err((token.at, message.to_owned()));
                }
                self.close("this parenthesis is not closed", token.at)?;
                sum
            }
            TokenKind::Word(ref word) if *self.peek() == TokenKind::Open => self.call(word, token.at)?,
            _ => return Err(unexpected(&token)),
        };
        self.depth -= 1;
        Ok(factor)
    }

    /// A function's arguments, from its opening parenthesis on.
    fn call(&mut self, name: &str, at: usize) -> Result<Sum, Slip> {
        let names = FUNCTIONS.iter().map(|(name, _)| *name);
        let Some((_, example)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            let message = match nearest(name, names.clone()) {
                Some(meant) => format!("there is no function `{name}`; did you mean `{meant}`?"),
                None => format!("there is no function `{name}`; there are {}", names.collect::<Vec<_>>().join(", ")),
            };
            return Err((at, message));
        };
        self.take();
        let (policy, policy_at) = self.policy(example)?;
        let quantity = match name {
            "mean" => Quantity::Of(Metric::Mean),
            "variance" => Quantity::Of(Metric::Variance),
            "std" => Quantity::Of(Metric::Std),
            "ess" => Quantity::Of(Metric::Ess),
            "quantile" => Quantity::Of(Metric::Quantile(self.level("a level", example)?)),
            "var" => Quantity::Var(self.level("a tail probability", example)?),
            "cvar" => Quantity::Of(Metric::Cvar(self.level("a tail probability", example)?)),
            _ => Quantity::Of(Metric::Probability(self.reward(&policy)?)),
        };
        if *self.peek() == TokenKind::Comma && !example.contains(',') {
            return Err((self.at(), format!("{name} takes nothing more: write {example}")));
        }
        self.close(&format!("the parenthesis of {name} is not closed"), at)?;
        Ok(Sum { terms: vec![Term { coefficient: 1.0, quantity, policy, at: policy_at }], constant: 0.0 })
    }

    fn policy(&mut self, example: &str) -> Result<(String, usize), Slip> {
        let token = self.take();
        let (TokenKind::Word(name) | TokenKind::Quoted(name)) = token.kind else {
            return Err((token.at, format!("a policy's name is missing: write {example}")));
        };
        match self.peek() {
            TokenKind::Minus | TokenKind::Word(_) | TokenKind::Plus | TokenKind::Times => {
                let message = "a name that is more than letters, digits and _ goes into quotes: mean(\"new-policy\")";
                Err((self.at(), message.to_owned()))
            }
            _ => Ok((name, token.at)),
        }
    }

    /// `, level`.
    fn level(&mut self, what: &str, example: &str) -> Result<f64, Slip> {
        match self.peek() {
            TokenKind::Comma => self.take(),
            TokenKind::Number(_) => return Err((self.at(), format!("a comma is missing: write {example}"))),
            _ => return Err((self.at(), format!("{what} is missing: write {example}"))),
        };
        let (level, at) = self.number(&format!("{what} between 0 and 1 is missing: write {example}"))?;
        if level > 0.0 && level < 1.0 {
            return Ok(level);
        }
        let percent = if (1.0..100.0).contains(&level) {
            format!("; for {level}% write {}", level / 100.0)
        } else {
            String::new()
        };
        Err((at, format!("{what} must lie between 0 and 1{percent}")))
    }

    /// `<= reward`.
    fn reward(&mut self, policy: &str) -> Result<f64, Slip> {
        let token = self.take();
        let say = |message: String| Err((token.at, message));
        match token.kind {
            TokenKind::Relation(Relation::AtMost) => {}
            TokenKind::Relation(Relation::Below) => {
                return say(format!(
                    "prob counts rewards up to and including a value: write prob({policy} <= v), with the next lower \
                     reward for v if the value itself is not to count"
                ));
            }
            TokenKind::Relation(_) => {
                return say(format!("write 1 - prob({policy} <= v) for the probability of larger rewards"));
            }
            _ => return say(format!("the comparison is missing: write prob({policy} <= 0)")),
        }
        Ok(self.number("a reward is missing: write prob(new <= 0)")?.0)
    }

    /// A number, with or without a sign.
    fn number(&mut self, missing: &str) -> Result<(f64, usize), Slip> {
        let at = self.at();
        let sign = match self.peek() {
            TokenKind::Minus => -1.0,
            TokenKind::Plus => 1.0,
            _ => 0.0,
        };
        if sign != 0.0 {
            self.take();
        }
        match self.take() {
            Token { kind: TokenKind::Number(value), .. } => Ok((if sign < 0.0 { -value } else { value }, at)),
            token => Err((token.at, missing.to_owned())),
        }
    }

    /// Whether a parenthesis that is open here is closed somewhere, whatever stands between.
    fn closes_later(&self) -> bool {
        let mut open = 1_usize;
        for token in &self.tokens[self.next..] {
            match token.kind {
                TokenKind::Open => open += 1,
                TokenKind::Close if open == 1 => return true,
                TokenKind::Close => open -= 1,
                _ => {}
            }
        }
        false
    }

    fn close(&mut self, message: &str, opened: usize) -> Result<(), Slip> {
        match self.take() {
            Token { kind: TokenKind::Close, .. } => Ok(()),
            Token { kind: TokenKind::End | TokenKind::Relation(_), .. } => Err((opened, message.to_owned())),
            token => Err(self.surplus(&token)),
        }
    }

    /// What follows on a whole sum, and was just taken.
    fn surplus(&self, token: &Token) -> Slip {
        match &token.kind {
            TokenKind::Word(_) if *self.peek() == TokenKind::Open => {
                (token.at, "a + - or * is missing before this metric".to_owned())
            }
            _ => unexpected(token),
        }
    }
}

fn unexpected(token: &Token) -> Slip {
    let message = match &token.kind {
        TokenKind::End => "something is missing here: a number, or a metric such as mean(new)".to_owned(),
        TokenKind::Word(word) => format!("`{word}` is no number: write a metric of it, for example mean({word})"),
        TokenKind::Quoted(_) => "a policy is no number: write a metric of it, for example mean(\"…\")".to_owned(),
        TokenKind::Number(_) => "a + - or * is missing before this number".to_owned(),
        TokenKind::Close => "this parenthesis closes nothing, or something is missing before it".to_owned(),
        TokenKind::Open => "a + - or * is missing before this parenthesis".to_owned(),
        TokenKind::Comma => "a comma stands only between a policy and a level: cvar(new, 0.1)".to_owned(),
        TokenKind::Relation(c) => format!("something is missing before {}", c.sign()),
        TokenKind::Plus | TokenKind::Minus | TokenKind::Times => "something is missing before this sign".to_owned(),
    };
    (token.at, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<(f64, Quantity, String)> {
        let Ok(requirement) = parse(text) else { return Vec::new() };
        requirement.sum.terms.into_iter().map(|t| (t.coefficient, t.quantity, t.policy)).collect()
    }

    #[test]
    fn both_sides_are_linear() {
        let (mean, cvar) = (Quantity::Of(Metric::Mean), Quantity::Of(Metric::Cvar(0.1)));
        let of = |c: f64, q: Quantity, p: &str| (c, q, p.to_owned());
        assert_eq!(terms("mean(new) >= 0.98*mean(logging)"), [of(1.0, mean, "new"), of(-0.98, mean, "logging")]);
        assert_eq!(terms("-(mean(new) - 2*(cvar(new, .1)))*3 < 1e-3"), [of(-3.0, mean, "new"), of(6.0, cvar, "new")]);
        assert_eq!(terms("mean(\"a b\") > mean('it\\'s')"), [of(1.0, mean, "a b"), of(-1.0, mean, "it's")]);
        assert_eq!(terms("mean(new) + mean(new) >= 1"), [of(2.0, mean, "new")]);
        assert_eq!(terms("prob(new <= -2.5) <= 0.1"), [of(1.0, Quantity::Of(Metric::Probability(-2.5)), "new")]);
        assert_eq!(terms("var(new,0.05) ≥ 1"), [of(1.0, Quantity::Var(0.05), "new")]);
        let constant = parse("2*3 - mean(new) <= 1").map(|r| (r.sum.constant, r.relation));
        assert_eq!(constant, Ok((5.0, Relation::AtMost)));
    }

    #[test]
    fn slips_are_placed_and_answered() {
        for (text, at, answer) in [
            ("men(new) >= 0", 0, "did you mean `mean`"),
            ("foo(new) >= 0", 0, "there are mean, variance"),
            ("mean(new) => 0", 10, "write >= in place of =>"),
            ("mean(new) == 0", 10, "in place of =="),
            ("mean(new) = 0", 10, "in place of ="),
            ("mean(new)", 9, "a comparison is missing"),
            ("cvar(new 0.1) > 0", 9, "a comma is missing"),
            ("cvar(new) > 0", 8, "a tail probability is missing"),
            ("cvar(new, 10) > 0", 10, "for 10% write 0.1"),
            ("cvar(new, 10%) > 0", 10, "write 0.1 in place of 10%"),
            ("quantile(new, 1.5) > 0", 14, "must lie between 0 and 1"),
            ("mean(new, 0.1) > 0", 8, "takes nothing more"),
            ("prob(new < 0) <= 1", 9, "write prob(new <= v)"),
            ("prob(new > 0) <= 1", 9, "1 - prob(new <= v)"),
            ("prob(new, 0) <= 1", 8, "write prob(new <= 0)"),
            ("mean(new)*mean(logging) > 0", 9, "only linear"),
            ("mean(new)/2 > 0", 9, "no division"),
            ("mean(new-policy) > 0", 8, "goes into quotes"),
            ("mean(new policy) > 0", 9, "goes into quotes"),
            ("new > 0", 0, "mean(new)"),
            ("2mean(new) > 0", 0, "write *"),
            ("1 > 0", 0, "asks nothing"),
            ("mean(new) - mean(new) >= 0", 0, "asks nothing"),
            ("0*mean(new) >= 0", 0, "asks nothing"),
            ("0.1*mean(new) + 0.2*mean(new) >= 0.3*mean(new)", 0, "asks nothing"),
            ("1e308*10 < mean(new)", 5, "more than a number can hold"),
            ("mean(new) < 1e308 + 1e308", 18, "more than a number can hold"),
            ("1e308*mean(new) + 1 > -1e308*mean(new)", 20, "more than a number can hold"),
            ("(1 <= mean(new))", 0, "outside parentheses"),
            ("mean(new) mean(new) > 0", 10, "missing before this metric"),
            ("mean(new) > mean(new) mean(new)", 22, "missing before this metric"),
            ("(mean(new) mean(new)) > 0", 11, "missing before this metric"),
            ("0 < mean(new) < 1", 14, "one comparison"),
            ("(mean(new) > 0", 0, "not closed"),
            ("mean(new > 0", 0, "not closed"),
            ("mean() > 0", 5, "name is missing"),
            ("mean(new) >= ", 13, "something is missing"),
            ("mean(\"new) > 0", 5, "no closing"),
            ("mean(new) > 0 $", 14, "means nothing"),
            ("", 0, "something is missing"),
        ] {
            let Err((found, message)) = parse(text) else { panic!("{text} was read") };
            assert_eq!((found, message.contains(answer)), (at, true), "{text}: {found}: {message}");
        }
        assert!(parse(&format!("{}1 > mean(new)", "(".repeat(100_000))).is_err());
        assert!(parse(&format!("{}mean(new) > 1", "-".repeat(100_000))).is_err());
    }
}
