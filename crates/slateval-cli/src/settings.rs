//! From flags to what the libraries understand.

use std::path::Path;

use anyhow::Result;
use slateval::{Correction, CorrectionChoice, Settings, Spec, Structure};
use slateval_logs::{Columns, Names, Tolerance, provenance};

use crate::args::{self, Estimator, How, Method, Running};
use crate::resume::Work;

impl How {
    /// The columns to be read and what is to be kept of them, before any log is looked at.
    pub(crate) fn wanted(&self) -> Result<(Columns, Spec)> {
        let columns = self.columns.resolve()?;
        let structure = self.weights.estimator.map(|estimator| match estimator {
            Estimator::Suno => Structure::Additive,
            Estimator::Uno => Structure::Product,
        });
        let mut spec = self.weights.assumed.spec(structure, &columns);
        if let Some(baseline) = &self.method.baseline {
            columns.check_baseline(baseline)?;
            spec.baseline = Some(baseline.clone());
        }
        Ok((columns, spec))
    }

    pub(crate) fn settings(&self) -> Settings {
        let mut settings = self.method.settings();
        if self.weights.estimator.is_some() {
            settings.correction = CorrectionChoice::Fixed(Correction::None);
        }
        settings
    }
}

impl args::Assumed {
    /// What is to be kept of a log with these columns, if not of a structure of its own.
    pub(crate) fn spec(&self, structure: Option<Structure>, columns: &Columns) -> Spec {
        let structure = structure.or(self.structure.clone()).unwrap_or(Structure::Auto);
        let names = columns.targets.iter().map(|target| target.name.clone());
        let mut spec = Spec::new(structure, names).with_binning(self.bins);
        spec.target_slots = self.target_slots;
        spec.propensities = self.propensities;
        spec.columns = provenance(columns, &spec.structure);
        spec
    }
}

impl Running {
    /// The work, where it is kept.
    pub(crate) fn work(&self) -> Work<'_> {
        Work::new(self.resume.as_deref())
    }

    /// The file that keeps it, with its flag.
    pub(crate) fn file(&self) -> Option<(&'static str, &Path)> {
        self.resume.as_deref().map(|path| ("--resume", path))
    }
}

impl args::Draw {
    pub(crate) fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.confidence = self.confidence.unwrap_or(settings.confidence);
        settings.seed = self.seed;
        settings.threads = self.threads.map(usize::from);
        settings
    }
}

impl Method {
    pub(crate) fn settings(&self) -> Settings {
        let mut settings = self.draw.settings();
        settings.correction = self.correction.unwrap_or_default();
        settings.alphas.clone_from(&self.alpha);
        settings.tail = self.tail;
        settings.quantiles.clone_from(&self.quantile);
        settings.at_least.clone_from(&self.at_least);
        settings.band = self.band;
        settings.min_propensity = self.min_propensity;
        settings.draws = self.draws;
        settings.debias_cvar = self.debias_cvar;
        settings
    }
}

impl args::Opening {
    /// What is done about bad rows and files.
    pub(crate) fn tolerance(&self) -> Tolerance {
        Tolerance {
            bad_rows: self.on_bad_row,
            bad_files: self.on_bad_file,
            unknown_files: self.on_unknown_file,
            unended: self.allow_unended,
        }
    }
}

impl args::Columns {
    pub(crate) fn resolve(&self) -> Result<Columns> {
        let names = Names {
            reward: self.reward.clone(),
            logging: self.logging.clone(),
            target: self.target.clone(),
            chi: self.chi.clone(),
            anywhere: self.anywhere.clone(),
            weight: self.weight.clone(),
            long: self.long,
            slate: self.slate.clone(),
            by: self.by.clone(),
            cluster: self.cluster.clone(),
        };
        Ok(names.columns()?)
    }
}
