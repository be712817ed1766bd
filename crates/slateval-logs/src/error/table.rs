//! Formats of tables that are more than their files.

/// A format in which a log beside the data says which files and rows count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// Delta Lake.
    DeltaLake,
    /// Apache Iceberg.
    Iceberg,
}

impl TableFormat {
    #[cfg(feature = "object-store")]
    pub(crate) const ALL: [TableFormat; 2] = [TableFormat::DeltaLake, TableFormat::Iceberg];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            TableFormat::DeltaLake => "Delta Lake",
            TableFormat::Iceberg => "Iceberg",
        }
    }

    /// The folder that tells of it.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            TableFormat::DeltaLake => "_delta_log",
            TableFormat::Iceberg => "metadata",
        }
    }
}
