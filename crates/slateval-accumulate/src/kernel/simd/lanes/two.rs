//! Eight numbers in two registers of four.

use super::{Eight, LANES, Lanes, Numbers};

/// The first four numbers and the last four.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Two<P>(P, P);

/// A register of four numbers.
pub(crate) trait Half: Numbers {
    /// Half of the numbers, as doubles.
    fn load_half_of_singles(from: &[f32; LANES], part: usize) -> Self;
    /// The first lanes of all, then the second lanes of all, and so on.
    fn transpose(four: [Self; LANES / 2]) -> [Self; LANES / 2];
}

/// What is done half by half.
macro_rules! by_halves {
    ($($name:ident($($arg:ident),*) $(, $same:ident)*;)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: Self,)* $($same: f64),*) -> Self {
            Two(self.0.$name($($arg.0,)* $($same),*), self.1.$name($($arg.1,)* $($same),*))
        }
    )*};
}

impl<P: Numbers> Numbers for Two<P> {
    by_halves! {
        plus(other);
        times(other);
        over(other);
        times_plus(by, more);
        least(other);
        most(other);
        absolute();
        where_below(limit, one, other);
        or_outside(before), least, most;
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Two(P::splat(x), P::splat(x))
    }

    #[inline(always)]
    fn load_part(from: &Lanes, _all: usize) -> Self {
        Two(P::load_part(from, 0), P::load_part(from, 1))
    }

    #[inline(always)]
    fn store_part(self, to: &mut Lanes, _all: usize) {
        self.0.store_part(to, 0);
        self.1.store_part(to, 1);
    }
}

impl<P: Half> Eight for Two<P> {
    type Part = P;
    const PARTS: usize = 2;

    #[inline(always)]
    fn load_singles(from: &[f32; LANES]) -> Self {
        Two(P::load_half_of_singles(from, 0), P::load_half_of_singles(from, 1))
    }

    #[inline(always)]
    fn transpose([a, b, c, d, e, f, g, h]: [Self; LANES]) -> [Self; LANES] {
        let [p, q, r, s] = P::transpose([a.0, b.0, c.0, d.0]);
        let [t, u, v, w] = P::transpose([a.1, b.1, c.1, d.1]);
        let [i, j, k, l] = P::transpose([e.0, f.0, g.0, h.0]);
        let [m, n, o, x] = P::transpose([e.1, f.1, g.1, h.1]);
        [Two(p, i), Two(q, j), Two(r, k), Two(s, l), Two(t, m), Two(u, n), Two(v, o), Two(w, x)]
    }
}
