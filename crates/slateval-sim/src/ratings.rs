//! Slates for real users: candidates and their relevance from a model of ratings, (n)DCG as the reward.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use rayon::prelude::*;

use crate::distribution::Distribution;
use crate::ease::{Ease, Likes};
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::random::{Random, below};
use crate::ratings_file::read_ratings;
use crate::world::{Context, Preferences, World};

/// The reward of a slate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gain {
    /// `sum_k score(a_k) / log2(k + 1)`, divided by the best that the user could have got without repeats: a slate that
    /// repeats a good item may get more than 1.
    #[default]
    Ndcg,
    /// Not divided.
    Dcg,
}

/// How a world is made of ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingsSettings {
    /// `K`.
    pub slots: usize,
    /// `N`: a user's candidates are the items with the highest scores.
    pub items: usize,
    /// The reward.
    pub gain: Gain,
    /// Ratings from here on are likes.
    pub threshold: f32,
    /// Users with fewer likes do not count at all.
    pub fewest: usize,
    /// Users with so many likes are the contexts.
    pub likes: RangeInclusive<usize>,
    /// Ridge of the model.
    pub lambda: f64,
}

impl Default for RatingsSettings {
    fn default() -> Self {
        let (gain, likes) = (Gain::Ndcg, 10..=15);
        RatingsSettings { slots: 5, items: 20, gain, threshold: 4.0, fewest: 5, likes, lambda: 500.0 }
    }
}

/// A world of users. Item `a` is the user's candidate with the `a`-th highest score, from 0; slot `k` has favourite `k`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratings {
    slots: usize,
    items: usize,
    users: Vec<i64>,
    /// The candidates of each user, best first.
    candidates: Vec<i64>,
    /// Their scores.
    scores: Vec<f64>,
    /// What a score in a slot is worth, user by user: the discount, over the ideal where it counts.
    worth: Vec<f64>,
}

impl Ratings {
    /// Reads ratings and fits a model to them; `progress` gets the share of the model that is done.
    ///
    /// # Errors
    /// If the file cannot be read, or has too few ratings for the settings.
    pub fn read(path: &Path, settings: &RatingsSettings, progress: &(dyn Fn(f64) + Sync)) -> Result<Self> {
        settings.check()?;
        let likes = Likes::new(&read_ratings(path)?, settings.threshold, settings.fewest)?;
        settings.check_likes(&likes)?;
        Self::new(&likes, &Ease::fit(&likes, settings.lambda, progress)?, settings)
    }

    /// The users and their candidates by a model of their likes.
    ///
    /// # Errors
    /// If there are too few for the settings.
    pub fn new(likes: &Likes, ease: &Ease, settings: &RatingsSettings) -> Result<Self> {
        settings.check()?;
        settings.check_likes(likes)?;
        let (slots, items) = (settings.slots, settings.items);
        let chosen: Vec<usize> =
            (0..likes.users.len()).filter(|&u| settings.likes.contains(&likes.of_user[u].len())).collect();
        let best: Vec<Vec<(u32, f64)>> = chosen.par_iter().map(|&u| ease.best(&likes.of_user[u], items)).collect();
        let mut world = Ratings { slots, items, users: vec![], candidates: vec![], scores: vec![], worth: vec![] };
        for (&user, best) in chosen.iter().zip(&best) {
            let ideal: f64 = best.iter().take(slots).enumerate().map(|(k, (_, score))| score * discount(k)).sum();
            // A user for whom nothing is relevant has no normalised gain.
            if ideal <= 0.0 {
                continue;
            }
            let unit = if settings.gain == Gain::Ndcg { ideal } else { 1.0 };
            world.users.push(likes.users[user]);
            world.candidates.extend(best.iter().map(|(item, _)| likes.items[*item as usize]));
            world.scores.extend(best.iter().map(|(_, score)| score));
            world.worth.extend((0..slots).map(|k| discount(k) / unit));
        }
        match world.users.is_empty() {
            true => Err(Error::TooFewRatings("no candidate of any user has a positive score".to_owned())),
            false => Ok(world),
        }
    }

    /// The users' ids, by context.
    pub fn users(&self) -> &[i64] {
        &self.users
    }

    /// A user's candidates, best first: ids and scores.
    pub fn candidates(&self, user: usize) -> impl Iterator<Item = (i64, f64)> {
        let range = user * self.items..(user + 1) * self.items;
        self.candidates[range.clone()].iter().copied().zip(self.scores[range].iter().copied())
    }
}

/// `1 / log2(j + 1)` for slots from 1, so `k + 2` for slots from 0.
fn discount(k: usize) -> f64 {
    1.0 / ((k + 2) as f64).log2()
}

impl RatingsSettings {
    fn check(&self) -> Result<()> {
        if self.slots == 0 || self.items < self.slots {
            let given = format!("{}, {}", self.slots, self.items);
            return Err(Error::setting("slots and items", given, "there must be a slot, and an item for each slot"));
        }
        Ok(())
    }

    fn check_likes(&self, likes: &Likes) -> Result<()> {
        if likes.items.len() < self.items {
            let few = format!("{} items are liked by anybody, and {} are wanted", likes.items.len(), self.items);
            return Err(Error::TooFewRatings(few));
        }
        if !likes.of_user.iter().any(|own| self.likes.contains(&own.len())) {
            let (first, last) = (self.likes.start(), self.likes.end());
            return Err(Error::TooFewRatings(format!("no user has {first} to {last} likes")));
        }
        Ok(())
    }
}

impl World for Ratings {
    fn slots(&self) -> usize {
        self.slots
    }

    fn items(&self) -> usize {
        self.items
    }

    fn contexts(&self) -> Option<usize> {
        Some(self.users.len())
    }

    fn context(&self, random: &mut Random) -> Context {
        Context { index: below(random, self.users.len() as u32) as usize, ..Context::default() }
    }

    fn preferences(&self, context: &Context, out: &mut Preferences) {
        let range = context.index * self.items..(context.index + 1) * self.items;
        out.scores_mut(0).copy_from_slice(&self.scores[range]);
        out.copy_first_slot();
        out.favourites_mut().iter_mut().enumerate().for_each(|(slot, favourite)| *favourite = slot as u32);
    }

    fn reward(&self, context: &Context, slate: &[u32], _: &mut Random) -> f64 {
        let scores = &self.scores[context.index * self.items..(context.index + 1) * self.items];
        let worth = &self.worth[context.index * self.slots..(context.index + 1) * self.slots];
        slate.iter().zip(worth).map(|(&a, worth)| scores[a as usize] * worth).sum()
    }

    /// Users times slates are too many.
    fn exact(&self, _: Policy) -> Result<Option<Distribution>> {
        Ok(None)
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Gain::Ndcg => "ndcg",
            Gain::Dcg => "dcg",
        })
    }
}

impl FromStr for Gain {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "ndcg" => Ok(Gain::Ndcg),
            "dcg" => Ok(Gain::Dcg),
            _ => Err(Error::setting("reward", text, "must be ndcg or dcg")),
        }
    }
}
