//! Plants in SQLite. One thread writes, and commits everything that waits in one transaction.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use rusqlite::{Connection, OptionalExtension, Result, Transaction, TransactionBehavior, params};
use tokio::sync::oneshot;

use crate::plant::NewPlant;

#[derive(Clone, Copy)]
pub enum Outcome {
    Created,
    /// A plant with this id and the same fields exists.
    AlreadyStored,
    /// A plant with this id and other fields exists.
    IdTaken,
    Failed,
}

struct Create {
    plant: NewPlant,
    reply: oneshot::Sender<Outcome>,
}

#[derive(Clone)]
pub struct Store {
    creates: Sender<Create>,
}

/// plantstore's settings, table and index.
const SETUP: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 2000;
    PRAGMA cache_size = -8000;
    CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
    CREATE INDEX plants_by_tag ON plants (tag, id) WHERE tag IS NOT NULL;
";

/// plantstore's own limit of a batch.
const MAX_BATCH: usize = 4096;

impl Store {
    /// Opens a new database.
    pub fn open(path: &str) -> Result<Store> {
        let database = Connection::open(path)?;
        database.execute_batch(SETUP)?;
        let (creates, waiting) = mpsc::channel();
        thread::spawn(move || write(database, waiting));
        Ok(Store { creates })
    }

    /// Resolves when the plant is on the disk.
    pub async fn create(&self, plant: NewPlant) -> Outcome {
        let (reply, outcome) = oneshot::channel();
        match self.creates.send(Create { plant, reply }) {
            Ok(()) => outcome.await.unwrap_or(Outcome::Failed),
            Err(_) => Outcome::Failed,
        }
    }
}

fn write(mut database: Connection, waiting: Receiver<Create>) {
    while let Ok(first) = waiting.recv() {
        let mut batch = vec![first];
        batch.extend(waiting.try_iter().take(MAX_BATCH - 1));
        let outcomes =
            commit(&mut database, &batch).unwrap_or_else(|_| vec![Outcome::Failed; batch.len()]);
        for (create, outcome) in batch.into_iter().zip(outcomes) {
            // The client may have gone.
            let _ = create.reply.send(outcome);
        }
    }
}

fn commit(database: &mut Connection, batch: &[Create]) -> Result<Vec<Outcome>> {
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let outcomes = batch
        .iter()
        .map(|create| insert(&transaction, &create.plant))
        .collect::<Result<Vec<_>>>()?;
    transaction.commit()?;
    Ok(outcomes)
}

fn insert(transaction: &Transaction, plant: &NewPlant) -> Result<Outcome> {
    let NewPlant { id, name, tag } = plant;
    let inserted = transaction
        .prepare_cached(
            "INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![id, name, tag])?;
    if inserted == 1 {
        return Ok(Outcome::Created);
    }
    let is_same: Option<bool> = transaction
        .prepare_cached("SELECT name = ? AND tag IS ? FROM plants WHERE id = ?")?
        .query_row(params![name, tag, id], |row| row.get(0))
        .optional()?;
    Ok(if is_same == Some(true) { Outcome::AlreadyStored } else { Outcome::IdTaken })
}
