//! What stands where in a bin's row of sums.
//! See docs/methods.md, section 3.2.

use crate::question::spec::Spec;
use crate::question::structure::Structure;
use crate::summary::index::{
    BinLayout, CrossLayout, CrossProduct, Feature, GramLayout, Layout, PairLayout, Product, RightLayout, Shape, Shared,
    WitnessLayout,
};
use crate::summary::witness::Witness;

/// What a specification asks to be kept, beside the number of slots.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    /// Number of functions that weights are made of.
    pub(crate) basis: usize,
    /// Whether each policy comes with chi.
    pub(crate) chi: Vec<bool>,
    /// The policy that the others are compared with.
    pub(crate) baseline: Option<usize>,
    /// Whether each two slots' interaction is kept.
    pub(crate) interactions: bool,
    /// Into how many groups clusters are hashed; 0 without clusters.
    pub(crate) groups: usize,
    structure: Structure,
}

impl Kept {
    pub(crate) fn new(spec: &Spec) -> Self {
        let has_slots = spec.structure.needs().slots;
        let named = |name: &String| spec.policies.iter().position(|p| p.name == *name);
        Kept {
            basis: spec.basis(),
            chi: spec.policies.iter().map(|p| p.chi && has_slots).collect(),
            baseline: spec.baseline.as_ref().and_then(named),
            interactions: spec.interactions && has_slots,
            groups: usize::from(spec.groups()),
            structure: spec.structure.clone(),
        }
    }

    /// What would show if the structure left something out, for slates of some slots.
    pub(crate) fn witnesses(&self, slots: usize) -> Vec<Witness> {
        Witness::list(&self.structure, self.basis, slots)
    }

    pub(crate) fn policies(&self) -> usize {
        self.chi.len()
    }

    fn shape(&self, policy: usize, slots: usize) -> Shape {
        Shape { slots, basis: self.basis, chi: self.chi[policy] }
    }

    pub(crate) fn gram_layout(&self, policy: usize, slots: usize) -> GramLayout {
        GramLayout { shape: self.shape(policy, slots) }
    }

    /// The policies that are compared with the baseline.
    pub(crate) fn compared(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = 0..self.policies();
        self.baseline.into_iter().flat_map(move |b| all.clone().filter(move |&p| p != b).map(move |p| (p, b)))
    }
}

/// A bin's row: what all policies share, then the sums and the witnesses of each policy, then the products of two
/// policies' features for policies that are compared, then each policy's pairs of slots.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowLayout {
    pub(crate) own: Vec<Section<BinLayout>>,
    /// Each directly behind the policy's own sums.
    pub(crate) witnesses: Vec<Section<WitnessLayout>>,
    pub(crate) cross: Vec<CrossSection>,
    pub(crate) pairs: Vec<Section<PairLayout>>,
    pub(crate) width: usize,
}

/// Some sums, and where they begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Section<L> {
    pub(crate) start: usize,
    pub(crate) layout: L,
}

/// The sums of a policy and the baseline that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CrossSection {
    pub(crate) policy: usize,
    pub(crate) baseline: usize,
    pub(crate) sums: Section<CrossLayout>,
}

impl<L: Layout> Section<L> {
    /// Where a sum stands in the row.
    pub(crate) fn place(&self, key: L::Key) -> usize {
        self.start + self.layout.place(key)
    }

    /// `(place here, place in a section for longer slates)` of every sum.
    fn places_in(&self, wide: &Self) -> impl Iterator<Item = (usize, usize)> {
        let (here, there) = (self.start, wide.start);
        self.layout.places_in(&wide.layout).into_iter().map(move |(a, b)| (here + a, there + b))
    }
}

impl RowLayout {
    pub(crate) fn new(kept: &Kept, slots: usize) -> Self {
        let mut width = Shared::ALL.len();
        let list = kept.witnesses(slots);
        let (mut own, mut witnesses) = (Vec::new(), Vec::new());
        for policy in 0..kept.policies() {
            own.push(take(&mut width, BinLayout { shape: kept.shape(policy, slots) }));
            witnesses.push(take(&mut width, WitnessLayout { list: list.clone() }));
        }
        let crossing = |(policy, baseline): (usize, usize)| {
            let rights = |p: usize| own[p].layout.rights();
            let layout = CrossLayout { policy: rights(policy), baseline: rights(baseline) };
            CrossSection { policy, baseline, sums: take(&mut width, layout) }
        };
        let cross = kept.compared().map(crossing).collect();
        let with_pairs = if kept.interactions { kept.policies() } else { 0 };
        let pairs = (0..with_pairs).map(|_| take(&mut width, PairLayout { slots })).collect();
        RowLayout { own, witnesses, cross, pairs, width }
    }

    /// `(place here, place in a layout for longer slates)` of every sum.
    pub(crate) fn places_in(&self, wide: &RowLayout) -> Vec<(usize, usize)> {
        let mut places: Vec<(usize, usize)> = Shared::ALL.map(|shared| (shared.place(), shared.place())).to_vec();
        self.own.iter().zip(&wide.own).for_each(|(a, b)| places.extend(a.places_in(b)));
        self.witnesses.iter().zip(&wide.witnesses).for_each(|(a, b)| places.extend(a.places_in(b)));
        self.cross.iter().zip(&wide.cross).for_each(|(a, b)| places.extend(a.sums.places_in(&b.sums)));
        self.pairs.iter().zip(&wide.pairs).for_each(|(a, b)| places.extend(a.places_in(b)));
        places
    }

    /// Where a bin sums the products of a left policy's features with a right policy's. The two are the same policy, or
    /// one is compared with the other.
    pub(crate) fn products(&self, left: usize, right: usize) -> Products<'_> {
        let cross =
            |section: &&CrossSection| [(left, right), (right, left)].contains(&(section.policy, section.baseline));
        let between = match self.cross.iter().find(cross) {
            _ if left == right => Between::Own,
            Some(section) if section.policy == left => Between::Cross(&section.sums, CrossProduct::OfPolicy),
            Some(section) => Between::Cross(&section.sums, CrossProduct::OfBaseline),
            None => unreachable!("policies {left} and {right} are not compared"),
        };
        Products { left: &self.own[left], right: &self.own[right], between }
    }
}

/// A section of a row that had some width so far.
fn take<L: Layout>(width: &mut usize, layout: L) -> Section<L> {
    let start = *width;
    *width += layout.len();
    Section { start, layout }
}

/// Where the products of two policies' features stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Products<'a> {
    left: &'a Section<BinLayout>,
    right: &'a Section<BinLayout>,
    between: Between<'a>,
}

/// Where the products with a left `W_i` stand.
#[derive(Debug, Clone, Copy)]
enum Between<'a> {
    Own,
    Cross(&'a Section<CrossLayout>, fn(Product) -> CrossProduct),
}

impl Products<'_> {
    /// The right features.
    pub(crate) fn rights(&self) -> RightLayout {
        self.right.layout.rights()
    }

    pub(crate) fn place(&self, product: Product) -> usize {
        match (product, self.between) {
            (Product(Feature::One, Feature::One), _) => Shared::Rows.place(),
            (Product(Feature::One, _), _) => self.right.place(product),
            (Product(_, Feature::One), _) | (_, Between::Own) => self.left.place(product),
            (_, Between::Cross(section, of_left)) => section.place(of_left(product)),
        }
    }
}
