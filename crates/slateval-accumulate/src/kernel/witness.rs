//! The columns of witnesses: products that a structure's weight has not.
//! See docs/methods.md, section 7.6.

use slateval_stats::sums::Witness;
use slateval_stats::{Family, Structure};

use crate::kernel::simd::column::{Column, resize};
use crate::kernel::weights::{elementary, elementary_with_rest};

/// Fills a column for each witness from the columns of `Z_k`, row by row.
#[inline(always)]
pub(crate) fn fill(
    structure: &Structure,
    list: &[Witness],
    z: &[Column],
    rows: usize,
    scratch: &mut Vec<Column>,
    out: &mut Vec<Column>,
) {
    resize(out, list.len());
    let Some(last) = list.last() else { return };
    match *last {
        Witness::Order(order) => elementary(order, rows, z, scratch),
        Witness::Beyond(order) => elementary_with_rest(order, rows, z, scratch),
    }
    for (witness, out) in list.iter().zip(out.iter_mut()) {
        *out = scratch[witness.order() - 1];
    }
    if let Structure::Interactions(family) = structure {
        take_off(family, list, rows, z, out);
    }
}

/// Takes the products that the family's weight has off the witness of their order.
fn take_off(family: &Family, list: &[Witness], rows: usize, z: &[Column], out: &mut [Column]) {
    let is_there = |set: &&Vec<usize>| set.last().is_some_and(|&last| last < z.len());
    for set in family.closure().iter().filter(is_there) {
        let holds = |witness: &Witness| match *witness {
            Witness::Order(order) => set.len() == order,
            Witness::Beyond(order) => set.len() > order,
        };
        let Some(place) = list.iter().position(holds) else { continue };
        for (row, h) in out[place].first_mut(rows).iter_mut().enumerate() {
            *h -= set.iter().map(|&k| z[k].get(row)).product::<f64>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of slots, with the product of its `Z`.
    fn products(z: &[f64]) -> Vec<(Vec<usize>, f64)> {
        let sets = (0..1usize << z.len()).map(|bits| (0..z.len()).filter(|k| bits >> k & 1 == 1).collect::<Vec<_>>());
        sets.map(|set| (set.clone(), set.iter().map(|&k| z[k]).product())).collect()
    }

    #[test]
    fn witnesses_are_the_products_that_the_weight_has_not() {
        let z = [0.7, -0.4, 1.3, 0.2, -0.9, 0.5];
        let column = |&z: &f64| {
            let mut column = Column::ZERO;
            column.first_mut(1)[0] = z;
            column
        };
        let columns: Vec<Column> = z.iter().map(column).collect();
        for text in ["additive", "order:2", "order:5", "interactions:1+2+3,4+5", "interactions:1+2+3+4+5", "product"] {
            let structure: Structure = text.parse().expect("a structure");
            let list = Witness::list(&structure, 1, z.len());
            let mut out = Vec::new();
            fill(&structure, &list, &columns, 1, &mut Vec::new(), &mut out);
            let weight = structure.weights(
                &z.iter().map(|z| vec![1.0 + z]).collect::<Vec<_>>().iter().map(Vec::as_slice).collect::<Vec<_>>(),
            )[0];
            let shown: f64 = out.iter().map(|h| h.get(0)).sum();
            let all: f64 = products(&z).iter().map(|(_, product)| product).sum();
            assert!((weight + shown - all).abs() < 1e-12, "{text}: {weight} and {shown} make {all}");
        }
        let list = Witness::list(&Structure::Additive, 1, 6);
        let mut out = Vec::new();
        fill(&Structure::Additive, &list, &columns, 1, &mut Vec::new(), &mut out);
        for (witness, h) in list.iter().zip(&out) {
            let own = |(set, _): &&(Vec<usize>, f64)| match *witness {
                Witness::Order(order) => set.len() == order,
                Witness::Beyond(order) => set.len() > order,
            };
            let sum: f64 = products(&z).iter().filter(own).map(|(_, product)| product).sum();
            assert!((h.get(0) - sum).abs() < 1e-12, "{witness:?}");
        }
    }

    #[test]
    fn a_structure_without_assumptions_has_no_witness() {
        for (text, slots) in [("product", 5), ("order:3", 3), ("given", 3), ("ranking:9", 3), ("interactions:1+2", 2)] {
            let structure: Structure = text.parse().expect("a structure");
            assert_eq!(Witness::list(&structure, 1, slots), [], "{text}");
        }
        assert_eq!(Witness::list(&Structure::Auto, 4, 4), []);
        assert_eq!(Witness::list(&Structure::Auto, 4, 5), [Witness::Beyond(4)]);
    }
}
