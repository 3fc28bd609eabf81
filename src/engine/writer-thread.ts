// The thread that writes: the only one whose disk may keep it waiting, so that the thread that serves never waits.
// This file is the entry of a Worker: it acts when it is loaded, like `main.ts`.
import { type Database, SQLiteError } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { type Change, prepareChanges } from './changes'
import type { Outcome } from './group-commit'
import { connect } from './open'
import type { Failure, Reply, Request } from './writer'

declare const self: Worker

// Pages (of 4 KiB) that a commit may leave in the write-ahead log before the log is copied into the database.
const CHECKPOINT_PAGES = 1000
const BUSY_MS = 10_000

const failure = (error: unknown): Failure => {
  const code = error instanceof SQLiteError ? (error.code ?? '') : ''
  const detail = `${code} ${error instanceof Error ? error.message : error}`.trim()
  if (code.startsWith('SQLITE_FULL')) return { kind: 'full', detail }
  if (code.startsWith('SQLITE_BUSY')) return { kind: 'busy', detail }
  return { kind: 'failed', detail }
}

const identity = (path: string): string => {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat ? `${stat.dev}:${stat.ino}` : 'none'
}

function createWriter(path: string) {
  const db: Database = connect(path)
  const apply = prepareChanges(db)
  const begin = db.query('BEGIN IMMEDIATE')
  const commit = db.query('COMMIT')
  const checkpoint = db.query<{ busy: bigint; log: bigint; checkpointed: bigint }, []>(
    'PRAGMA wal_checkpoint(PASSIVE)',
  )
  const walPages = db.query<{ log: bigint }, []>('PRAGMA wal_checkpoint(NOOP)')
  // SQLite's own waiting is in steps of up to 100 ms: too coarse beside an import.
  db.run('PRAGMA busy_timeout = 0')
  // A read makes the write-ahead log, if there is none.
  db.run('SELECT 1 FROM plants LIMIT 1')
  const files = [path, `${path}-wal`]
  const opened = files.map(identity)
  let checkpointAt = CHECKPOINT_PAGES

  function beginImmediate(): void {
    const deadline = performance.now() + BUSY_MS
    for (;;) {
      try {
        begin.run()
        return
      } catch (error) {
        if (failure(error).kind !== 'busy' || performance.now() > deadline) throw error
        Bun.sleepSync(1)
      }
    }
  }

  function rollback(): void {
    try {
      if (db.inTransaction) db.run('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself, or does so when the connection closes.
    }
  }

  // A COMMIT that failed may have left its pages in the log, whole but for the sync. A commit over them, be it
  // synced or not, keeps them from being taken for committed by whoever reads the log next.
  function overwriteFailedCommit(): boolean {
    try {
      begin.run()
      apply(['probe'])
      commit.run()
      return true
    } catch {
      rollback()
      return false
    }
  }

  function write(changes: Change[]): Reply {
    let committing = false
    try {
      beginImmediate()
      const outcomes: Outcome[] = changes.map(apply)
      committing = true
      commit.run()
      if (files.some((file, index) => identity(file) !== opened[index])) {
        return { failure: { kind: 'moved', detail: 'the database was moved, replaced or deleted' } }
      }
      return outcomes.every((outcome) => outcome === null) ? 'done' : { outcomes }
    } catch (error) {
      rollback()
      const { kind, detail } = failure(error)
      // On a full disk the last page of a commit, which makes it one, was not written.
      const isDoubtful = committing && !overwriteFailedCommit() && kind === 'failed'
      return { failure: { kind: isDoubtful ? 'doubtful' : kind, detail } }
    }
  }

  // Copies the log into the database when it is long enough, so that SQLite can start it anew.
  function tidy(): Reply | null {
    try {
      const pages = Number(walPages.get()?.log)
      if (pages < CHECKPOINT_PAGES) checkpointAt = CHECKPOINT_PAGES
      if (pages < checkpointAt) return null
      const result = checkpoint.get()
      // A reader that holds an old state keeps the log growing: try again when it has grown as much again.
      checkpointAt =
        result?.log === result?.checkpointed ? CHECKPOINT_PAGES : pages + CHECKPOINT_PAGES
      return { checkpointed: Number(result?.checkpointed), pages: Number(result?.log) }
    } catch (error) {
      return { checkpointFailure: failure(error) }
    }
  }

  return { write, tidy, close: () => db.close(true) }
}

let writer: ReturnType<typeof createWriter> | undefined

// Requests and replies are JSON in one string: the cheapest message that there is between two threads of Bun.
const reply = (message: Reply) => self.postMessage(JSON.stringify(message))

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request: Request = JSON.parse(data)
  try {
    if ('open' in request) {
      writer = createWriter(request.open)
      reply('done')
    } else if ('close' in request) {
      writer?.close()
      writer = undefined
      reply('done')
    } else if (!writer) {
      reply({ failure: { kind: 'failed', detail: 'the database is not open' } })
    } else {
      reply(writer.write(request.write))
      const tidied = writer.tidy()
      if (tidied) reply(tidied)
    }
  } catch (error) {
    reply({ failure: failure(error) })
  }
}
