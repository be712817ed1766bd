//! What stands where in a bin's row of sums.
//! See docs/methods.md, section 3.2.

use crate::spec::specification::Spec;
use crate::spec::structure::Structure;
use crate::sums::feature_map::Weight;
use crate::sums::index::{
    Basis, BinLayout, CrossLayout, FeatureLayout, Layout, PairLayout, RightLayout, Shape, Shared, WitnessLayout,
};
use crate::sums::table::LANES;
use crate::sums::witness::Witness;

/// What a specification asks to be kept, beside the number of slots.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// What weights are made of.
    pub basis: Basis,
    /// Whether each policy comes with chi.
    pub chi: Vec<bool>,
    /// The policy that the others are compared with.
    pub baseline: Option<usize>,
    /// Whether each two slots' interaction is kept.
    pub interactions: bool,
    /// Into how many groups clusters are hashed; 0 without clusters.
    pub groups: usize,
    structure: Structure,
}

impl Kept {
    pub(crate) fn new(spec: &Spec, groups: u16) -> Self {
        let has_slots = spec.structure.needs().slots;
        let named = |name: &String| spec.policies.iter().position(|p| p.name == *name);
        Kept {
            basis: basis(spec),
            chi: spec.policies.iter().map(|p| p.chi && has_slots).collect(),
            baseline: spec.baseline.as_ref().and_then(named),
            interactions: spec.interactions && has_slots,
            groups: usize::from(groups),
            structure: spec.structure.clone(),
        }
    }

    /// What would show if the structure left something out, for slates of some slots.
    pub(crate) fn witnesses(&self, slots: usize) -> Vec<Witness> {
        Witness::list(&self.structure, self.basis.count(), slots)
    }

    /// The `m`-th weight that can be made of the basis.
    pub(crate) fn weight(&self, m: usize) -> Weight {
        match self.basis {
            Basis::Orders(_) => Weight::Order(m + 1),
            Basis::Single => Weight::Single,
        }
    }

    /// The structure whose sums are kept.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// How many targets there are.
    pub fn policies(&self) -> usize {
        self.chi.len()
    }

    /// What a policy's sums are of, for slates of some slots.
    pub fn shape(&self, policy: usize, slots: usize) -> Shape {
        Shape { slots, basis: self.basis, chi: self.chi[policy] }
    }

    /// The features that clusters and baselines keep.
    pub fn features(&self, policy: usize, slots: usize) -> FeatureLayout {
        FeatureLayout::kept(self.shape(policy, slots))
    }

    /// Whether single features are kept, beside the products that every evaluation reads.
    pub fn keeps_features(&self) -> bool {
        self.groups > 0 || self.compared().next().is_some()
    }

    /// The policies that are compared with the baseline.
    pub fn compared(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = 0..self.policies();
        self.baseline.into_iter().flat_map(move |b| all.clone().filter(move |&p| p != b).map(move |p| (p, b)))
    }
}

/// The weight of structures auto and additive is a sum of orders.
fn basis(spec: &Spec) -> Basis {
    match spec.structure {
        Structure::Auto => Basis::Orders(spec.basis()),
        Structure::Additive => Basis::Orders(1),
        _ => Basis::Single,
    }
}

/// A bin's row: a header of what all policies share, then the sums and the witnesses of each policy, then the products of
/// two policies' features for policies that are compared, then each policy's pairs of slots. Witnesses of the first policy
/// that fit into the header stand there: most logs then need a cache line less.
#[derive(Debug, Clone, PartialEq)]
pub struct RowLayout {
    /// Of each policy.
    pub own: Vec<Section<BinLayout>>,
    /// Each directly behind the policy's own sums, or in the header.
    pub witnesses: Vec<Section<WitnessLayout>>,
    /// Of each policy that is compared with the baseline.
    pub cross: Vec<CrossSection>,
    /// Of each policy, with interactions.
    pub pairs: Vec<Section<PairLayout>>,
    /// How many places there are.
    pub width: usize,
}

/// Some sums, and where they begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Section<L> {
    /// The first place.
    pub start: usize,
    /// Where sums stand behind it.
    pub layout: L,
}

/// The sums of a policy and the baseline that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossSection {
    /// The policy.
    pub policy: usize,
    /// The baseline.
    pub baseline: usize,
    /// Where their products stand.
    pub sums: Section<CrossLayout>,
}

impl<L: Layout> Section<L> {
    /// Where a sum stands in the row.
    pub fn place(&self, key: L::Key) -> usize {
        self.start + self.layout.place(key)
    }

    /// Where its sums stand in the row.
    fn places(&self) -> impl Iterator<Item = usize> {
        self.layout.keys().into_iter().map(|key| self.place(key))
    }

    /// `(place here, place in a section for longer slates)` of every sum.
    fn places_in(&self, wide: &Self) -> impl Iterator<Item = (usize, usize)> {
        let (here, there) = (self.start, wide.start);
        self.layout.places_in(&wide.layout).into_iter().map(move |(a, b)| (here + a, there + b))
    }
}

/// Places in front of the first policy's sums: what all policies share, and room for witnesses.
pub const HEADER: usize = LANES;

/// Places of what all policies share.
pub const SHARED: usize = Shared::ALL.len();

impl RowLayout {
    pub(crate) fn new(kept: &Kept, slots: usize) -> Self {
        let mut width = HEADER;
        let list = kept.witnesses(slots);
        let (mut own, mut witnesses) = (Vec::new(), Vec::new());
        for policy in 0..kept.policies() {
            own.push(take(&mut width, BinLayout { shape: kept.shape(policy, slots) }));
            let layout = WitnessLayout { list: list.clone() };
            let fits = policy == 0 && layout.width() <= HEADER - SHARED;
            witnesses.push(if fits { Section { start: SHARED, layout } } else { take(&mut width, layout) });
        }
        let crossing = |(policy, baseline): (usize, usize)| {
            let rights = |p: usize| RightLayout { shape: kept.shape(p, slots) };
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
        let mut places: Vec<(usize, usize)> = (0..SHARED).map(|place| (place, place)).collect();
        self.own.iter().zip(&wide.own).for_each(|(a, b)| places.extend(a.places_in(b)));
        self.witnesses.iter().zip(&wide.witnesses).for_each(|(a, b)| places.extend(a.places_in(b)));
        self.cross.iter().zip(&wide.cross).for_each(|(a, b)| places.extend(a.sums.places_in(&b.sums)));
        self.pairs.iter().zip(&wide.pairs).for_each(|(a, b)| places.extend(a.places_in(b)));
        places
    }

    /// The places that hold sums, policy by policy; the first are those of [`Shared`].
    pub(crate) fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = Shared::ALL.map(Shared::place).to_vec();
        for (own, witnesses) in self.own.iter().zip(&self.witnesses) {
            places.extend(own.places());
            places.extend(witnesses.places());
        }
        self.cross.iter().for_each(|section| places.extend(section.sums.places()));
        self.pairs.iter().for_each(|section| places.extend(section.places()));
        places
    }

    /// The sums of two policies that are compared, and whether the left one is the policy rather than the baseline.
    pub(crate) fn cross(&self, left: usize, right: usize) -> Option<(&CrossSection, bool)> {
        let own =
            |section: &&CrossSection| [(left, right), (right, left)].contains(&(section.policy, section.baseline));
        self.cross.iter().find(own).map(|section| (section, section.policy == left))
    }
}

/// A section of a row that had some width so far.
fn take<L: Layout>(width: &mut usize, layout: L) -> Section<L> {
    let start = *width;
    // Sums that are added together stand aligned.
    *width += layout.width().next_multiple_of(LANES);
    Section { start, layout }
}
