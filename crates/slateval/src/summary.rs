//! The mergeable summary: one pass over the log, and everything else is computed from it.
//! See docs/methods.md, section 3.

use slateval_accumulate::{Accumulator, Block};
use slateval_format::{History, Input, Provenance};
use slateval_stats::{
    Combination, Combined, Day, Evaluation, IgnoredFile, Interaction, Interval, Profile, Result, Segment, Settings,
    Skipped, Spec, Sums,
};

/// What is kept of a log, of a fixed size: its [`Sums`], and where its rows came from. Add rows, merge with other summaries,
/// evaluate.
///
/// | verb | cost |
/// |---|---|
/// | [`add`](Summary::add), [`Slates::add_to`](crate::Slates::add_to) | that of an [`Accumulator`] for these rows, and of a merge |
/// | [`merge`](Summary::merge) | `O(bins K + K^2)` a policy and segment, whatever the number of rows |
/// | [`evaluate`](Summary::evaluate) | likewise, and `O(draws bins K)` for bands and intervals |
/// | memory | at most `bins (4 + 2 policies (K + 1))` numbers a segment; more with chi, with structure auto (four orders), with a baseline, and with clusters (a number for each group) |
///
/// Bins do not depend on a first look at the data, so summaries of any two days, files or machines merge, in any order,
/// into what one pass over all rows gives.
///
/// Bad values are errors, not panics, and an error leaves the summary as it was.
#[derive(Debug, Clone)]
pub struct Summary {
    pub(crate) sums: Sums,
    /// Where the rows came from, as far as it was said.
    pub(crate) provenance: Provenance,
}

impl From<Sums> for Summary {
    /// A summary of rows that came from memory.
    fn from(sums: Sums) -> Self {
        Summary { sums, provenance: Provenance::default() }
    }
}

impl Summary {
    /// Most segments a log may have.
    pub const SEGMENTS: usize = Sums::SEGMENTS;

    /// A summary of no rows.
    ///
    /// # Errors
    /// If the specification contradicts itself: no target, a reserved or repeated name, an impossible structure.
    pub fn new(spec: Spec) -> Result<Self> {
        Sums::new(spec).map(Summary::from)
    }

    /// What this is a summary of.
    pub fn spec(&self) -> &Spec {
        self.sums.spec()
    }

    /// Number of slates seen.
    pub fn rows(&self) -> u64 {
        self.sums.rows()
    }

    /// Number of slots of the longest slate; `None` where the structure has no use for slots.
    pub fn slots(&self) -> Option<usize> {
        self.sums.slots()
    }

    /// The segments seen, ascending.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.sums.segments()
    }

    /// How many segments were seen.
    pub fn segment_count(&self) -> usize {
        self.sums.segments().len()
    }

    /// Adds the sums of further rows. Refused sums leave the summary as it was.
    ///
    /// # Errors
    /// As [`Sums::merge`].
    pub fn add_sums(&mut self, sums: Sums) -> Result<()> {
        self.sums.merge(sums)
    }

    /// What was left out of the log, by reason, as far as [`skip`](Summary::skip) was told.
    pub fn skipped(&self) -> Vec<Skipped> {
        self.provenance.skipped()
    }

    /// Remembers rows or files that were left out of the log, behind all that is known so far. Summaries merge what was
    /// left out of them; the first 20 examples stay.
    pub fn skip(&mut self, skipped: Skipped) {
        self.provenance.skip(skipped);
    }

    /// The files that were left out of the log as a whole, by name.
    pub fn skipped_files(&self) -> impl Iterator<Item = &str> {
        self.provenance.skipped_files()
    }

    /// Takes back that a file was left out as a whole: it was read since, or is about to be counted again.
    pub fn forget_skipped_file(&mut self, name: &str) {
        self.provenance.forget_skipped_file(name);
    }

    /// Files that were found in a directory and left out, because they are no logs that can be read: the first 1,000 in
    /// the order of names, as far as [`ignore`](Summary::ignore) was told.
    pub fn ignored(&self) -> Vec<IgnoredFile> {
        self.provenance.ignored()
    }

    /// How many such files there are. Beyond 1,000, a file that is in two summaries may be counted twice or not at all.
    pub fn ignored_files(&self) -> u64 {
        self.provenance.ignored_files()
    }

    /// Whether merging another summary would add no such file.
    pub fn knows_ignored(&self, other: &Summary) -> bool {
        self.provenance.knows_ignored(&other.provenance)
    }

    /// Remembers a file that was left out because it is no log that can be read. A file counts once, however many
    /// summaries that are merged know it, and no more once rows of it are there.
    pub fn ignore(&mut self, file: IgnoredFile) {
        self.provenance.ignore(file);
    }

    /// The files that the rows came from, by name, as far as [`add_input`](Summary::add_input) was told.
    pub fn inputs(&self) -> Vec<&Input> {
        self.provenance.inputs()
    }

    /// A number made from the rewards of all rows: how many there are in each bin. The same rows have the same, however
    /// they came.
    pub fn digest(&self) -> u64 {
        self.sums.digest()
    }

    /// Remembers which file rows came from that were added, so that [`merge`](Summary::merge) can refuse to count them
    /// twice. An input without rows is remembered as well: all of its rows may have been bad.
    pub fn add_input(&mut self, input: Input) {
        self.provenance.add_input(input);
    }

    /// Forgets where rows came from, names of files included. Nothing then keeps them from being counted twice.
    pub fn forget_inputs(&mut self) {
        self.provenance.forget_inputs();
    }

    /// How this came about, as far as it was said.
    pub fn history(&self) -> &History {
        self.provenance.history()
    }

    /// The history, to be added to.
    pub fn history_mut(&mut self) -> &mut History {
        self.provenance.history_mut()
    }

    /// Says which day the rows are of: all inputs that have none yet are of this day.
    pub fn set_day(&mut self, day: Day) {
        self.provenance.set_day(day);
    }

    /// Adds the rows of a block, or none of them: a block is checked as a whole first, and a refused block leaves the
    /// summary as it was. An [`Accumulator`] adds many blocks faster.
    ///
    /// # Errors
    /// As [`Accumulator::add`].
    ///
    /// # Panics
    /// If the block was made for another specification.
    pub fn add(&mut self, block: &Block) -> Result<()> {
        let mut rows = Accumulator::new(self.spec().clone())?;
        rows.add(block)?;
        self.add_sums(rows.finish())
    }

    /// Bytes that a summary of this specification takes at most, for slates of so many slots: all bins are in use, and with
    /// [`by`](Spec::by) there are so many segments, which share bins. While rows are added, there are also
    /// [rows that wait](crate::Accumulator::most_waiting_bytes).
    ///
    /// ```
    /// use slateval::{Spec, Structure, Summary};
    ///
    /// let spec = Spec::new(Structure::Auto, ["new"]);
    /// assert!(Summary::most_bytes(&spec, 5, 0) < 10_000_000);
    /// assert!(Summary::most_bytes(&spec, 500, 0) > 10 * Summary::most_bytes(&spec, 5, 0));
    /// ```
    pub fn most_bytes(spec: &Spec, slots: usize, segments: usize) -> u64 {
        Sums::most_bytes(spec, slots, segments)
    }

    /// Whether some bytes begin as those of a summary do.
    pub fn is_summary(bytes: &[u8]) -> bool {
        slateval_format::is_summary(bytes)
    }

    /// The summary as bytes: versioned, checksummed, self-describing.
    ///
    /// ```
    /// use slateval::{Spec, Structure, Summary};
    /// let summary = Summary::new(Spec::new(Structure::Product, ["new"]))?;
    /// let again = Summary::from_bytes(&summary.to_bytes())?;
    /// assert_eq!(again.spec(), summary.spec());
    /// # Ok::<(), slateval::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        slateval_format::to_bytes(&self.sums, &self.provenance)
    }

    /// The summary that [`to_bytes`](Summary::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are something else, cut short, changed, or of another version.
    ///
    /// [`Error::Format`]: crate::Error::Format
    pub fn from_bytes(bytes: &[u8]) -> Result<Summary> {
        let (sums, provenance) = slateval_format::from_bytes(bytes)?;
        Ok(Summary { sums, provenance })
    }

    /// The reward distribution of every policy, with what it rests on.
    ///
    /// # Errors
    /// [`Error::NoRows`] for an empty summary; [`Error::BadSetting`] and [`Error::TooFewDraws`] for settings out of
    /// their range; [`Error::BadStructure`] if no slate has the slots that the structure names; [`Error::HugeReward`]
    /// and [`Error::Overflow`] if rewards or weights are too large for double precision.
    ///
    /// ```
    /// use slateval::{Settings, Slates};
    ///
    /// // Two actions, shown equally often; the first is worth 1. The target shows it in 9 of 10 slates.
    /// let summary = Slates::new(&[1.0, 0.0]).logging(&[0.5, 0.5]).target("new", &[0.9, 0.1]).summary()?;
    ///
    /// let evaluation = summary.evaluate(&Settings::default())?;
    /// let new = evaluation.policy("new").expect("it was asked for");
    /// assert!((new.mean.estimate.expect("there are rows") - 0.9).abs() < 1e-12);
    /// # Ok::<(), slateval::Error>(())
    /// ```
    ///
    /// [`Error::NoRows`]: crate::Error::NoRows
    /// [`Error::BadSetting`]: crate::Error::BadSetting
    /// [`Error::TooFewDraws`]: crate::Error::TooFewDraws
    /// [`Error::BadStructure`]: crate::Error::BadStructure
    /// [`Error::HugeReward`]: crate::Error::HugeReward
    /// [`Error::Overflow`]: crate::Error::Overflow
    pub fn evaluate(&self, settings: &Settings) -> Result<Evaluation> {
        self.sums.evaluate(&self.provenance.source(), settings)
    }

    /// The whole log without its segments, or one segment by itself: what [`evaluate`](Summary::evaluate) says of it, at
    /// a fraction of the cost. For readers who ask one question more.
    ///
    /// # Errors
    /// As [`evaluate`](Summary::evaluate), and [`Error::BadSetting`] for a segment that there is not.
    ///
    /// ```
    /// use slateval::{Settings, Slates};
    ///
    /// let summary = Slates::new(&[1.0, 0.0]).logging(&[0.5, 0.5]).target("new", &[0.9, 0.1]).summary()?;
    /// let median = summary.evaluate_part(None, &Settings::default().with_quantiles([0.5]).with_alphas([]))?;
    /// assert_eq!(median.policies[1].quantiles[0].interval.estimate, Some(1.0));
    /// # Ok::<(), slateval::Error>(())
    /// ```
    ///
    /// [`Error::BadSetting`]: crate::Error::BadSetting
    pub fn evaluate_part(&self, segment: Option<&Segment>, settings: &Settings) -> Result<Evaluation> {
        self.sums.evaluate_part(&self.provenance.source(), segment, settings)
    }

    /// How strongly each two slots' effects on the reward depend on each other, strongest first. Needs a specification
    /// with [`interactions`](Spec::interactions).
    ///
    /// # Errors
    /// As [`evaluate`](Summary::evaluate), and [`Error::BadSetting`] if what it needs was not kept.
    ///
    /// [`Error::BadSetting`]: crate::Error::BadSetting
    pub fn interactions(&self, settings: &Settings) -> Result<Vec<Interaction>> {
        self.sums.interactions(settings)
    }

    /// A linear combination of metrics with its interval, for the whole log or for one segment.
    ///
    /// The interval is joint: what moves several terms at once is not counted twice. One term, or a target minus logging or
    /// the baseline, has the interval that [`evaluate`](Summary::evaluate) gives it. Terms that cannot be judged together,
    /// which are moments with what is read off the CDF, and two targets of which neither is the specification's
    /// [`baseline`](Spec::baseline), are split into groups; each of `g` groups gets an interval at
    /// `1 - (1 - confidence) / g`, and the ends are added up. That holds at least as often as asked for, and is wider than it
    /// could be.
    ///
    /// With [`Band::Bernstein`](crate::Band::Bernstein), only quantiles and probabilities of one policy have an interval.
    ///
    /// # Errors
    /// As [`evaluate`](Summary::evaluate), and [`Error::BadSetting`] for a policy, a segment or a level that there is not.
    ///
    /// ```
    /// use slateval::{Combination, Metric, Settings, Slates, Term};
    ///
    /// // Two actions, shown equally often; the first is worth 1. The target shows it in 9 of 10 slates.
    /// let reward = [1.0, 0.0].repeat(50);
    /// let pi = [0.9, 0.1].repeat(50);
    /// let summary = Slates::new(&reward).logging(&[0.5; 100]).target("new", &pi).summary()?;
    ///
    /// let terms = vec![Term::new(1.0, Metric::Mean, "new"), Term::new(-0.98, Metric::Mean, "logging")];
    /// let gain = summary.combination(&Combination { terms, constant: 0.0 }, None, &Settings::default())?;
    /// assert!((gain.estimate.expect("there are rows") - (0.9 - 0.98 * 0.5)).abs() < 1e-12);
    /// # Ok::<(), slateval::Error>(())
    /// ```
    ///
    /// [`Error::BadSetting`]: crate::Error::BadSetting
    pub fn combination(
        &self,
        combination: &Combination,
        segment: Option<&Segment>,
        settings: &Settings,
    ) -> Result<Interval> {
        self.sums.combination(&self.provenance.source(), combination, segment, settings)
    }

    /// Several at once, which costs hardly more than one: they share the order chosen from the data and the draws.
    ///
    /// # Errors
    /// As [`combination`](Summary::combination).
    pub fn combinations(
        &self,
        combinations: &[Combination],
        segment: Option<&Segment>,
        settings: &Settings,
    ) -> Result<Vec<Combined>> {
        self.sums.combinations(&self.provenance.source(), combinations, segment, settings)
    }

    /// The same in every segment, ascending. What the whole log says of the policies is found out once for all of them.
    ///
    /// # Errors
    /// As [`combination`](Summary::combination).
    pub fn combinations_by_segment(
        &self,
        combinations: &[Combination],
        settings: &Settings,
    ) -> Result<Vec<(Segment, Vec<Combined>)>> {
        self.sums.combinations_by_segment(&self.provenance.source(), combinations, settings)
    }

    /// Every policy's tails and differences at many levels, such as [`Profile::levels`]. At a level of the settings the
    /// numbers are those of [`evaluate`](Summary::evaluate); only conditional intervals have
    /// [`if_order_holds`](Interval::if_order_holds).
    ///
    /// # Errors
    /// As [`evaluate`](Summary::evaluate).
    ///
    /// ```
    /// use slateval::{Profile, Settings, Slates};
    ///
    /// let summary = Slates::new(&[1.0, 0.0]).logging(&[0.5, 0.5]).target("new", &[0.9, 0.1]).summary()?;
    /// let settings = Settings::default();
    /// let profile = summary.profile(&Profile::levels(&settings), &settings)?;
    /// // A tenth of the target's slates have reward 0, the others 1.
    /// let at = profile.levels.iter().position(|level| *level == 0.2).expect("it is one of them");
    /// assert!((profile.policies[1].cvar[at].estimate.expect("there are rows") - 0.5).abs() < 1e-12);
    /// # Ok::<(), slateval::Error>(())
    /// ```
    pub fn profile(&self, levels: &[f64], settings: &Settings) -> Result<Profile> {
        self.sums.profile(&self.provenance.source(), levels, settings)
    }
}
