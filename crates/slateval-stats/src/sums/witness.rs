//! What would show if a structure left something out.
//! See docs/methods.md, section 7.6.
//!
//! If the reward's CDF is a sum of functions of the slots that a structure allows to interact, then every product of
//! `Z_k` over other slots has `E[prod Z_k 1{R <= v}] = 0`, for the logging policy fills its slots independently. So the
//! sum of all such products of one order is a *witness*: where its mean product with the indicator is not 0, the
//! structure is wrong, whatever the target. A bin keeps the sums of each witness and of its square, nothing else.

use crate::spec::structure::{Family, ORDERS, Structure};
use crate::weights::binomial;

/// A sum of products of slot ratios that a structure's weight has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Witness {
    /// All products of this many slots that the structure leaves out.
    Order(usize),
    /// All products of more than this many slots that the structure leaves out.
    Beyond(usize),
}

impl Witness {
    /// Those of a structure for slates of some slots. `basis` is the number of orders kept for a choice among them.
    pub fn list(structure: &Structure, basis: usize, slots: usize) -> Vec<Witness> {
        let from = match structure {
            Structure::Auto => basis,
            Structure::Order(m) => *m,
            Structure::Interactions(family) => return Self::of_family(family, slots),
            structure if structure.is_additive() => 1,
            _ => return Vec::new(),
        };
        let last = from.max(ORDERS);
        // Any order may be asked for: one beyond all slots is refused once the slots are known.
        let orders = (from.saturating_add(1)..=slots.min(last)).map(Witness::Order);
        orders.chain((slots > last).then_some(Witness::Beyond(last))).collect()
    }

    fn of_family(family: &Family, slots: usize) -> Vec<Witness> {
        let of_order = |order: usize| family.closure().iter().filter(|set| set.len() == order).count() as f64;
        let orders = (2..=slots.min(ORDERS)).filter(|&order| of_order(order) < binomial(slots, order));
        orders.map(Witness::Order).chain((slots > ORDERS).then_some(Witness::Beyond(ORDERS))).collect()
    }

    /// How many slots its products have at least.
    pub fn order(self) -> usize {
        match self {
            Witness::Order(order) => order,
            Witness::Beyond(order) => order + 1,
        }
    }
}
