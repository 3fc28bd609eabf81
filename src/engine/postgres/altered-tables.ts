// What other programs have done to the tables while they are in use. If acknowledged writes may not be kept, writes are
// refused until it is undone.

import { OpenError, RequestError } from '../../errors'
import type { StoreUser } from '../store-user'
import { type Connection, sendWithin } from './connecting/connection'
import { DISCARDED, isInDoubt, sqlStateOf } from './connecting/errors'
import { READER_SILENT_MS } from './connecting/readers'
import type { Statement } from './connecting/statements'
import { type Alteration, readAlterations } from './schema/alterations'
import { DISCARDS, tryWrites } from './sql/apply-writes'

const REASON = 'another program has altered the tables; see the log'

export class AlteredTables {
  #texts: readonly string[] = []
  #isUnsafe = false
  /** The result of the last trial, and the triggers at its time. */
  #trial: { readonly problem: string | null; readonly triggers: string } | null = null
  #triggers = ''

  constructor(private readonly storeUser: StoreUser) {}

  /** Reads the catalog. Resolves to false if writes are refused. */
  async read(connection: Connection): Promise<boolean> {
    const send = (it: readonly Statement[]) => sendWithin(connection, READER_SILENT_MS, it)
    const { alterations, triggers } = await readAlterations(send)
    this.#triggers = triggers
    this.#note(alterations)
    return this.problem() === null
  }

  /** Rejects with an `OpenError` if writes to the tables are unsafe at the start. */
  async open(connection: Connection): Promise<void> {
    await this.read(connection)
    if (this.#isUnsafe) throw new OpenError(this.#texts.join('; '))
    if (!this.storeUser.outlivesOutages) return
    const send = (it: readonly Statement[]) => sendWithin(connection, READER_SILENT_MS, it)
    const problem = await tryWrites(connection.sql, false, send).catch((error) => {
      if (isInDoubt(error)) throw error
      // Any other refusal is found by the rehearsal, and heals.
      return sqlStateOf(error) === DISCARDED ? DISCARDS : null
    })
    if (problem) throw new OpenError(`${problem}; drop it`)
    this.tried(null)
  }

  /** True if a trial must show what the triggers do. */
  isTrialDue(): boolean {
    return this.#trial?.triggers !== this.#triggers || this.#trial.problem !== null
  }

  /** Notes the result of a trial. */
  tried(problem: string | null): void {
    if (problem && problem !== this.#trial?.problem) this.#log('error', problem)
    this.#trial = { problem, triggers: this.#triggers }
  }

  /** The refusal of all writes; null if the tables are as expected. */
  problem(): RequestError | null {
    if (!this.#isUnsafe && !this.#trial?.problem) return null
    return new RequestError('cannot write', REASON)
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
