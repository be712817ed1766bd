//! The threads that wait for servers, and one client for each bucket.

use std::collections::HashMap;
use std::future::Future;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::error::{Error, Result};
use crate::find::address::Remote;
use crate::store::client::{Client, Settings};
use crate::store::memory::Memory;

/// Threads that wait for servers. They hand on bytes and do little else.
const THREADS: usize = 2;

/// Bytes that all objects together may keep between two looks at them: the beginnings and ends of many small files.
const KEPT: u64 = 64 << 20;

/// What all objects share.
pub(crate) struct Cloud {
    runtime: Runtime,
    clients: Mutex<HashMap<String, Client>>,
    /// The room for what objects keep between two looks at them.
    pub(crate) kept: Arc<Memory>,
    /// A process that was forked has none of its parent's threads.
    process: u32,
}

impl std::fmt::Debug for Cloud {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cloud")
    }
}

static CLOUD: Mutex<Option<Arc<Cloud>>> = Mutex::new(None);

impl Cloud {
    /// The one of this process.
    pub(crate) fn get() -> Result<Arc<Cloud>> {
        let mut known = CLOUD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cloud) = known.as_ref().filter(|cloud| cloud.process == std::process::id()) {
            return Ok(cloud.clone());
        }
        // Waiting for threads that the parent process has would never end.
        std::mem::forget(known.take());
        let cloud = Arc::new(Cloud::new()?);
        *known = Some(cloud.clone());
        Ok(cloud)
    }

    fn new() -> Result<Cloud> {
        // Refused if there is a provider already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut runtime = Builder::new_multi_thread();
        runtime.worker_threads(THREADS).thread_name("slateval-store").enable_io().enable_time();
        let runtime = runtime.build().map_err(|e| Error::Threads(e.to_string()))?;
        Ok(Cloud { runtime, clients: Mutex::default(), kept: Memory::new(KEPT), process: std::process::id() })
    }

    /// The client of an address. One that was made with other settings is not used again: in a notebook, people set
    /// credentials after the first failure.
    pub(crate) fn client(&self, remote: &Remote) -> Result<Client> {
        let settings = Settings::of(remote)?;
        let key = settings.key();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = settings.build()?;
        // Signed addresses are many.
        if remote.query.is_none() {
            clients.insert(key, client.clone());
        }
        Ok(client)
    }

    /// Begins something; whoever needs it waits for it.
    pub(crate) fn begin<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Pending<T> {
        let (sender, receiver) = sync_channel(1);
        let task = self.runtime.spawn(async move {
            // Nobody waits any more.
            let _ = sender.send(work.await);
        });
        Pending { receiver, task }
    }
}

/// Something that was begun. Dropped, it is broken off.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    receiver: Receiver<T>,
    task: JoinHandle<()>,
}

impl<T> Pending<T> {
    /// Waits for it; `None` if the thread that did it broke off.
    pub(crate) fn wait(self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
