//! Small logs whose truth is known, as plain arrays.

use crate::random::Random;

/// A log of one target: a reward for each row, and propensities as `[row][slot]`.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// Rewards.
    pub reward: Vec<f64>,
    /// The logging policy's propensities of what was shown.
    pub logging: Vec<Vec<f64>>,
    /// The target's.
    pub target: Vec<Vec<f64>>,
}

impl Log {
    /// Effects of single slots only, and too few rows to tell: 10,000 are worth about 120 rows at order 1 and 3 at order 2.
    /// One of 20 items is worth showing in each of five slots, and the target shows it in 19 of 20 slates.
    pub fn thin(rows: usize) -> Self {
        let mut random = Random::new(3);
        let mut log = Log::default();
        for _ in 0..rows {
            let good: Vec<bool> = (0..5).map(|_| random.uniform() < 0.05).collect();
            let slot = (5.0 * random.uniform()) as usize;
            log.reward.push(f64::from(u8::from(random.uniform() < if good[slot] { 0.9 } else { 0.2 })));
            log.logging.push(vec![0.05; 5]);
            log.target.push(good.iter().map(|good| if *good { 0.95 } else { 0.05 / 19.0 }).collect());
        }
        log
    }

    /// Effects of three slots at a time and no others: the reward is larger by 1 where an even number of three coins
    /// shows heads.
    pub fn parity(rows: usize) -> Self {
        let mut random = Random::new(4);
        let mut log = Log::default();
        for _ in 0..rows {
            let heads: Vec<bool> = (0..3).map(|_| random.uniform() < 0.5).collect();
            let even = heads.iter().filter(|heads| **heads).count() % 2 == 0;
            log.reward.push(f64::from(u8::from(even)) + random.uniform());
            log.logging.push(vec![0.5; 3]);
            log.target.push(heads.iter().map(|heads| if *heads { 0.25 } else { 0.75 }).collect());
        }
        log
    }

    /// The log as CSV, whose column `city` has one of two values in turn.
    pub fn csv(&self) -> String {
        let slots = self.logging.first().map_or(0, Vec::len);
        let names = |base: &str| (1..=slots).map(|k| format!(",{base}_{k}")).collect::<String>();
        let mut text = format!("reward{}{},city\n", names("mu"), names("pi"));
        for (row, ((reward, mu), pi)) in self.reward.iter().zip(&self.logging).zip(&self.target).enumerate() {
            let propensities: String = mu.iter().chain(pi).map(|p| format!(",{p}")).collect();
            text += &format!("{reward}{propensities},city {}\n", row % 2);
        }
        text
    }
}
