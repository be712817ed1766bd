//! The objects that an address stands for: one object, all below a directory, or all that fit a pattern.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, TryStreamExt};
use glob::{MatchOptions, Pattern};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use crate::error::{Error, RemoteError, RemoteFault, Result, TableFormat};
use crate::find::address::Remote;
use crate::find::candidates::{By, Objects};
use crate::find::detect::Format;
use crate::find::discover::{ICEBERG, hides, is_hidden};
use crate::store::client::{Client, location};
use crate::store::cloud::Cloud;
use crate::store::failure::failure;
use crate::store::memory::Memory;
use crate::store::object::Object;

/// Objects that are looked at at once.
pub(crate) const AT_ONCE: usize = 32;

/// As on disk: `*` does not go beyond a slash.
const AS_ON_DISK: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: false };

/// The objects of each address, in the order of names, and how they were found. All addresses are looked at side by side.
/// Objects that can only be fetched as a whole may take `memory` bytes together.
pub(crate) fn find(remotes: &[Remote], memory: u64) -> Result<Vec<Result<Objects>>> {
    if remotes.is_empty() {
        return Ok(Vec::new());
    }
    let cloud = Cloud::get()?;
    let searches: Vec<Result<Search>> = remotes.iter().map(|remote| Search::of(&cloud, remote)).collect();
    let pending = cloud.begin(
        stream::iter(searches)
            .map(|search| async move {
                match search {
                    Ok(search) => search.run().await,
                    Err(error) => Err(error),
                }
            })
            .buffered(AT_ONCE)
            .collect::<Vec<_>>(),
    );
    let found = pending.wait().ok_or_else(|| Error::Threads("a thread broke off".into()))?;
    let bodies = Memory::new(memory);
    let object = |Found { client, remote, meta, by }| {
        (Arc::new(Object::new(cloud.clone(), client, remote, meta, bodies.clone())), by)
    };
    Ok(found.into_iter().map(|found| Ok(found?.into_iter().map(object).collect())).collect())
}

/// One object that is known to be there, which may take so many bytes of memory.
pub(crate) fn object(remote: &Remote, memory: u64) -> Result<Arc<Object>> {
    let cloud = Cloud::get()?;
    let (client, place, known) = (cloud.client(remote)?.store, location(remote)?, remote.clone());
    let pending = cloud.begin(async move {
        let meta = client.head(&place).await.map_err(|e| failure(&known, &e))?;
        Ok::<_, RemoteError>((client, known, meta))
    });
    let found = pending.wait().ok_or_else(|| Error::Threads("a thread broke off".into()))?;
    let (client, remote, meta) = found?;
    Ok(Arc::new(Object::new(cloud, client, remote, meta, Memory::new(memory))))
}

struct Found {
    client: Arc<dyn ObjectStore>,
    remote: Remote,
    meta: ObjectMeta,
    by: By,
}

struct Search {
    client: Client,
    remote: Remote,
}

impl Search {
    fn of(cloud: &Cloud, remote: &Remote) -> Result<Search> {
        let is_directory = remote.query.is_none() && (remote.key.is_empty() || remote.key.ends_with('/'));
        if remote.scheme.is_web() && (is_directory || remote.is_pattern()) {
            return Err(RemoteFault::NoListing.at(remote.name()).into());
        }
        Ok(Search { client: cloud.client(remote)?, remote: remote.clone() })
    }

    async fn run(self) -> Result<Vec<Found>> {
        let metas = if self.remote.is_pattern() {
            self.matches().await?
        } else if self.remote.key.is_empty() || self.remote.key.ends_with('/') && !self.remote.scheme.is_web() {
            self.all_below().await?
        } else {
            self.one_or_below().await?
        };
        let found = |(meta, by): (ObjectMeta, By)| {
            let remote = match self.remote.scheme.is_web() {
                true => self.remote.clone(),
                false => self.remote.with_key(meta.location.as_ref()),
            };
            Found { client: self.client.store.clone(), remote, meta, by }
        };
        let mut found: Vec<Found> = metas.into_iter().map(found).collect();
        // As directories are walked: name by name.
        found.sort_by_cached_key(|found| PathBuf::from(&found.remote.key));
        Ok(found)
    }

    /// An object of this name, or a directory.
    async fn one_or_below(&self) -> Result<Vec<(ObjectMeta, By)>> {
        match self.client.store.head(&location(&self.remote)?).await {
            Ok(meta) => Ok(vec![(meta, By::Name)]),
            Err(object_store::Error::NotFound { .. }) if !self.remote.scheme.is_web() => {
                let below = self.list(&self.remote.key).await?;
                match below.is_empty() {
                    true => Err(RemoteFault::Missing.at(self.shown()).into()),
                    false => self.visible(below),
                }
            }
            Err(error) => Err(self.refused(&error)),
        }
    }

    async fn all_below(&self) -> Result<Vec<(ObjectMeta, By)>> {
        let below = self.list(&self.remote.key).await?;
        self.visible(below)
    }

    /// Those of a directory that are not hidden.
    fn visible(&self, below: Vec<ObjectMeta>) -> Result<Vec<(ObjectMeta, By)>> {
        let directory = self.remote.key.trim_end_matches('/');
        let tables = tables(&below);
        let visible = below.into_iter().filter(|meta| is_visible(meta.location.as_ref(), directory));
        let visible: Vec<_> = visible.map(|meta| (meta, By::Directory)).collect();
        self.refuse_tables(&tables, &visible)?;
        Ok(visible)
    }

    async fn matches(&self) -> Result<Vec<(ObjectMeta, By)>> {
        let key = self.remote.key.trim_end_matches('/');
        let fixed = key.find(['*', '?', '[']).unwrap_or(key.len());
        let mut listed = match self.list_beginning(&key[..fixed]).await {
            Ok(listed) => listed,
            // Credentials that may not list may still read an object whose key has brackets.
            Err(error) => {
                let own = self.client.store.head(&location(&self.remote)?).await;
                return own.map(|meta| vec![(meta, By::Name)]).or(Err(error));
            }
        };
        // A key is read as it stands if there is one, or a directory of that name.
        if let Some(own) = listed.iter().find(|meta| meta.location.as_ref() == self.remote.key) {
            return Ok(vec![(own.clone(), By::Name)]);
        }
        let below = format!("{key}/");
        if listed.iter().any(|meta| meta.location.as_ref().starts_with(&below)) {
            listed.retain(|meta| meta.location.as_ref().starts_with(&below));
            return self.visible(listed);
        }
        let pattern = Pattern::new(key).map_err(|e| Error::bad_pattern(&self.shown(), e))?;
        let tables = tables(&listed);
        let fitting = |meta: ObjectMeta| fits(&pattern, meta.location.as_ref()).map(|by| (meta, by));
        let found: Vec<_> = listed.into_iter().filter_map(fitting).collect();
        self.refuse_tables(&tables, &found)?;
        if found.is_empty() { Err(Error::NoMatch { pattern: self.shown() }) } else { Ok(found) }
    }

    async fn list(&self, directory: &str) -> Result<Vec<ObjectMeta>> {
        let prefix = location(&self.remote.with_key(directory))?;
        let prefix = (!prefix.is_root()).then_some(prefix);
        let listed = self.client.store.list(prefix.as_ref()).try_collect().await.map_err(|e| self.refused(&e))?;
        Ok(without_markers(listed))
    }

    /// Objects whose keys begin like this, and what tells of a table in the directory. A lake may hold millions of
    /// others.
    async fn list_beginning(&self, beginning: &str) -> Result<Vec<ObjectMeta>> {
        let (directory, name) = beginning.rsplit_once('/').unwrap_or(("", beginning));
        let Some(pages) = self.client.pages.as_ref().filter(|_| !name.is_empty()) else {
            return self.list(directory).await;
        };
        let mut listed = self.pages(pages.as_ref(), beginning).await?;
        let below = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        for folder in TableFormat::ALL.map(|format| format!("{below}{}/", format.folder())) {
            if !folder.starts_with(beginning) {
                listed.extend(self.pages(pages.as_ref(), &folder).await?);
            }
        }
        Ok(without_markers(listed))
    }

    async fn pages(&self, pages: &dyn PaginatedListStore, beginning: &str) -> Result<Vec<ObjectMeta>> {
        let (mut listed, mut page_token) = (Vec::new(), None);
        loop {
            let options = PaginatedListOptions { page_token, ..PaginatedListOptions::default() };
            let page = pages.list_paginated(Some(beginning), options).await.map_err(|e| self.refused(&e))?;
            listed.extend(page.result.objects);
            page_token = page.page_token;
            if page_token.is_none() {
                return Ok(listed);
            }
        }
    }

    /// Refuses files in the folder of a table.
    fn refuse_tables(&self, tables: &[Table], files: &[(ObjectMeta, By)]) -> Result<()> {
        let has =
            |(folder, _): &&Table| files.iter().any(|(file, _)| Path::new(file.location.as_ref()).starts_with(folder));
        match tables.iter().find(has) {
            Some((folder, format)) => Err(Error::table(&self.remote.with_key(folder).shown(), *format)),
            None => Ok(()),
        }
    }

    fn shown(&self) -> String {
        self.remote.name()
    }

    fn refused(&self, error: &object_store::Error) -> Error {
        failure(&self.remote, error).into()
    }
}

/// Leaves out empty objects that stand for directories, which some tools make: those that no log is called like, and those
/// with objects below them.
fn without_markers(listed: Vec<ObjectMeta>) -> Vec<ObjectMeta> {
    let keys: BTreeSet<String> = listed.iter().map(|meta| meta.location.as_ref().to_owned()).collect();
    let is_marker = |meta: &ObjectMeta| {
        let (key, below) = (meta.location.as_ref(), format!("{}/", meta.location));
        let has_more = || keys.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below));
        meta.size == 0 && (Format::of_name(Path::new(key)).is_none() || has_more())
    };
    listed.into_iter().filter(|meta| !is_marker(meta)).collect()
}

/// The folder of a table, and its format.
type Table = (String, TableFormat);

fn tables(listed: &[ObjectMeta]) -> Vec<Table> {
    let found = listed.iter().filter_map(|meta| table_of(meta.location.as_ref()));
    let mut tables: Vec<Table> = found.map(|(folder, format)| (folder.to_owned(), format)).collect();
    tables.dedup();
    tables
}

/// The folder of a table that a key of object storage tells of.
fn table_of(key: &str) -> Option<(&str, TableFormat)> {
    let folder = |format: TableFormat| {
        let inside = format!("{}/", format.folder());
        let at = if key.starts_with(&inside) { Some(0) } else { key.find(&format!("/{inside}")) }?;
        Some((&key[..at], format))
    };
    folder(TableFormat::DeltaLake).or_else(|| folder(TableFormat::Iceberg).filter(|_| key.ends_with(ICEBERG)))
}

/// How a key fits a pattern: itself, or as a file below a directory that does.
fn fits(pattern: &Pattern, key: &str) -> Option<By> {
    if pattern.matches_with(key, AS_ON_DISK) {
        return (!hides(pattern.as_str(), Path::new(key))).then_some(By::Name);
    }
    let directories = key.match_indices('/').map(|(at, _)| &key[..at]);
    let hides = |directory: &str| hides(pattern.as_str(), Path::new(directory));
    let mut fitting = directories.filter(|d| pattern.matches_with(d, AS_ON_DISK) && !hides(d));
    fitting.any(|directory| is_visible(key, directory)).then_some(By::Directory)
}

/// Whether neither a key below a directory nor anything on the way is hidden.
fn is_visible(key: &str, directory: &str) -> bool {
    let below = key.strip_prefix(directory).unwrap_or(key).trim_start_matches('/');
    !below.split('/').any(|name| is_hidden(Path::new(name)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_on_disk() {
        let fits = |pattern: &str, key: &str| fits(&Pattern::new(pattern).unwrap(), key);
        assert_eq!(fits("logs/day=*/part-*.parquet", "logs/day=1/part-0.parquet"), Some(By::Name));
        assert_eq!(fits("logs/day=*/part-*.parquet", "logs/day=1/x/part-0.parquet"), None);
        assert_eq!(fits("logs/*.parquet", "logs/_tmp.parquet"), None);
        // A directory that fits is searched.
        assert_eq!(fits("logs/day=*", "logs/day=1/c=2/x.csv"), Some(By::Directory));
        assert_eq!(fits("logs/day=*", "logs/day=1/_tmp/x.csv"), None);
        assert_eq!(fits("logs/day=*", "logs/day=1/000001_0"), Some(By::Directory));
        assert_eq!(fits("logs/**/x.csv", "logs/a/b/x.csv"), Some(By::Name));
        assert_eq!(fits("logs/**/x.csv", "logs/_temporary/b/x.csv"), None);
        assert_eq!(fits("logs/*/_raw/x.csv", "logs/a/_raw/x.csv"), Some(By::Name), "a directory that was named");
    }

    #[test]
    fn markers_of_directories_are_no_logs() {
        let object = |(key, size): &(&str, u64)| ObjectMeta {
            location: (*key).into(),
            last_modified: Default::default(),
            size: *size,
            e_tag: None,
            version: None,
        };
        let listed = [("logs", 0), ("logs/a.csv", 0), ("logs/a.csv/b.csv", 9), ("logs/c.csv", 0), ("logs/d", 5)];
        let kept = without_markers(listed.iter().map(object).collect());
        let kept: Vec<&str> = kept.iter().map(|meta| meta.location.as_ref()).collect();
        assert_eq!(kept, ["logs/a.csv/b.csv", "logs/c.csv", "logs/d"]);
    }

    #[test]
    fn hidden_files_are_bookkeeping() {
        assert!(is_visible("a/b/c.parquet", "a"));
        assert!(is_visible("c.parquet", ""));
        assert!(!is_visible("a/_delta_log/0.json", "a"));
        assert!(!is_visible("a/_SUCCESS", "a"));
        assert!(is_visible("_raw/a.csv", "_raw"), "a directory that was named");
    }
}
