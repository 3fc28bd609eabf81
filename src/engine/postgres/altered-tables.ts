// Detects changes that other programs make to the tables while a process uses them. If acknowledged writes may be lost,
// writes are refused until the change is undone.

import { OpenError } from '../../errors'
import type { Log } from '../../log'
import type { StorageState } from '../storage-state'
import type { Connection } from './connecting/connection'
import { READER_SILENT_MS } from './connecting/readers'
import { type Alteration, readAlterations } from './schema/alterations'

const REASON = 'another program has altered the tables; see the log'

export class AlteredTables {
  #texts: readonly string[] = []

  constructor(
    private readonly storage: StorageState,
    private readonly log: Log,
  ) {}

  /** Reads the catalog, and reports what it shows. Resolves to the reasons to refuse writes. */
  async read({ sql, within }: Connection): Promise<readonly string[]> {
    return this.note(await within(READER_SILENT_MS, readAlterations(sql)))
  }

  /** Reports alterations, of which each is logged once. Returns the reasons to refuse writes. */
  note(alterations: readonly Alteration[]): readonly string[] {
    for (const { text, isUnsafe } of alterations) {
      const level = isUnsafe ? 'error' : 'warn'
      if (!this.#texts.includes(text)) this.log(level, 'tables-altered', { detail: text })
    }
    this.#texts = alterations.map(({ text }) => text)
    const unsafe = alterations.filter(({ isUnsafe }) => isUnsafe).map(({ text }) => text)
    const failure = { kind: 'altered', detail: REASON } as const
    this.storage.report(unsafe.length > 0 ? { source: 'tables', failure } : 'safe')
    return unsafe
  }

  /** Rejects with an `OpenError` if writes to the tables are unsafe at the start. */
  async open(connection: Connection): Promise<void> {
    const unsafe = await this.read(connection)
    if (unsafe.length > 0) throw new OpenError(unsafe.join('; '))
  }
}
