// What other programs have done to the tables while they are in use. If acknowledged writes may not be kept, writes are
// refused until it is undone.

import { OpenError, RequestError } from '../../errors'
import type { StoreUser } from '../store-user'
import { type Connection, sendWithin } from './connecting/connection'
import { READER_SILENT_MS } from './connecting/readers'
import type { Statement } from './connecting/statements'
import { type Alteration, readAlterations } from './schema/alterations'

const REASON = 'another program has altered the tables; see the log'

export class AlteredTables {
  #texts: readonly string[] = []
  #isUnsafe = false

  constructor(private readonly storeUser: StoreUser) {}

  /** Reads the catalog. Resolves to false if writes are refused. */
  async read(connection: Connection): Promise<boolean> {
    const send = (it: readonly Statement[]) => sendWithin(connection, READER_SILENT_MS, it)
    this.#note(await readAlterations(send))
    return !this.#isUnsafe
  }

  /** Rejects with an `OpenError` if writes to the tables are unsafe at the start. */
  async open(connection: Connection): Promise<void> {
    await this.read(connection)
    if (this.#isUnsafe) throw new OpenError(this.#texts.join('; '))
  }

  /** The refusal of all writes; null if the tables are as expected. */
  problem(): RequestError | null {
    return this.#isUnsafe ? new RequestError('cannot write', REASON) : null
  }

  /** Rejects with the refusal of all writes, unless what was done to the tables is undone. */
  async requireSafe(find: () => Promise<Connection>): Promise<void> {
    const refusal = this.problem()
    if (!refusal) return
    const isUndone = await find()
      .then((it) => this.read(it))
      .catch(() => false)
    if (!isUndone) throw refusal
  }

  #note(alterations: readonly Alteration[]): void {
    for (const { text, isUnsafe } of alterations) {
      if (!this.#texts.includes(text)) this.#log(isUnsafe ? 'error' : 'warn', text)
    }
    this.#texts = alterations.map(({ text }) => text)
    this.#isUnsafe = alterations.some((it) => it.isUnsafe)
  }

  #log(level: 'error' | 'warn', detail: string): void {
    this.storeUser.log(level, 'tables-altered', { detail })
  }
}
