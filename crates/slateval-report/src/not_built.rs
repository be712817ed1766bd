//! What stands in for the encoders that this build was made without.

use crate::Error;

#[cfg(not(feature = "parquet"))]
pub(crate) mod parquet_file {
    use super::Error;
    use crate::cdf::Row;

    pub(crate) fn encode<'a, I: Iterator<Item = Row<'a>>>(_: impl Fn() -> I) -> Result<Vec<u8>, Error> {
        Err(Error::NotBuilt { format: "Parquet", feature: "parquet" })
    }
}

#[cfg(not(feature = "png"))]
pub(crate) mod pixels {
    use super::Error;

    pub(crate) fn encode(_: &str) -> Result<Vec<u8>, Error> {
        Err(Error::NotBuilt { format: "PNG", feature: "png" })
    }
}
