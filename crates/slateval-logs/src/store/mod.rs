//! Object storage: `s3://`, `gs://`, `az://` and web addresses.
//!
//! | file | what |
//! |---|---|
//! | `body` | answers of servers that send whole objects only |
//! | `cloud` | the threads that wait for servers, and one client for each bucket |
//! | `client`, `profile` | how a bucket is reached, and with which credentials |
//! | `memory` | how much of objects may be held |
//! | `listing` | the objects that an address, a directory or a pattern stands for |
//! | `object` | one object: what it was when it was found, and ranges of its bytes |
//! | `sequential`, `columns` | its bytes in order; those of some columns of a Parquet file |
//! | `failure` | what went wrong, in our terms |

mod body;
mod client;
mod cloud;
mod columns;
mod failure;
mod listing;
mod memory;
mod object;
mod profile;
mod sequential;

pub(crate) use columns::{Chunks, Columns, ranges, refused};
pub(crate) use listing::{AT_ONCE, find, object};
pub(crate) use object::Object;
pub(crate) use sequential::Sequential;
