// The primary: the server that accepts writes; for a store that is only read, the server that it reads. All connections
// are to one host. When one is lost, all are closed, and the hosts are asked until one can be used again.

import { codeOf, messageOf, OpenError } from '../../../errors'
import { CANNOT_READ, RequestError } from '../../../request-errors'
import type { StoreUser } from '../../store-user'
import type { Ask, Connection } from './connection'
import { describeError, isInDoubt } from './errors'
import { type ConnectContext, connect, type Memory, survey } from './hosts'
import { type ConnectionPolicy, type Connections, closeAll, openReaders } from './readers'
import { WRITER_SETTINGS, withSettings } from './settings'
import type { ServerState } from './state'
import { addressOf, type PostgresTarget } from './url'

/** Maximum wait of a read for a lost server. */
const READ_PATIENCE_MS = 2000

const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 1000

// A server that answers only after the start may have a newer history than the one in use.
const OTHERS_EVERY_MS = 10_000

const OLDER = 'it accepts writes, but is not the primary; stop it, or remove it from the URL'

export class Primary {
  /** See `ServerStats`. */
  reconnects = 0
  #current: Connections | null = null
  /** The time of the loss, and the reason that the server is not found. */
  #lostAt = 0
  #reason = ''
  /** Aborted by close: ends the connections, and the search for a server. */
  readonly #stopController = new AbortController()
  /** Resolves when the lost server is found. */
  #found = Promise.withResolvers<void>()
  #last: Memory['last'] = null
  #otherHosts: Timer | undefined
  /**
   * The reason to leave the last host, as another one has a newer history. Its connections are lost between two writes: a
   * commit under way would be in doubt.
   */
  #reasonToLeave: Error | null = null
  /** The hosts that accept writes and are not used, as logged. */
  readonly #loggedUnused = new Set<string>()

  /** `found` is called once all connections are usable. */
  constructor(
    private readonly target: PostgresTarget,
    private readonly storeUser: StoreUser,
    private readonly state: ServerState,
    private readonly policy: ConnectionPolicy,
    private readonly onFound: () => void,
  ) {}

  /**
   * Connects for the first time. Rejects with an `OpenError` if no host can be used, or once the process is told to
   * stop.
   */
  async open(): Promise<void> {
    const { stopping } = this.storeUser
    stopping.throwIfAborted()
    const giveUp = () => this.close()
    stopping.addEventListener('abort', giveUp)
    try {
      this.#begin(await this.#equip(await this.#findWriter()))
    } catch (error) {
      this.#stopController.signal.throwIfAborted()
      if (error instanceof OpenError) throw error
      throw new OpenError(
        `cannot connect to PostgreSQL at ${this.target.redacted}: ${describeError(error)}`,
      )
    } finally {
      stopping.removeEventListener('abort', giveUp)
    }
  }

  get isLost(): boolean {
    return this.#current === null
  }

  /**
   * The connections. If the server is lost, waits until it has been lost for `patience` milliseconds, then rejects with
   * this message.
   */
  async ready(patience: number, failure?: string): Promise<Connections> {
    for (;;) {
      const connections = this.#current
      if (connections) {
        if (!Object.values(connections).some((connection) => connection.isLost)) return connections
        this.lose(connections, new Error('the server closed the connection'))
      }
      const remainingMs = this.#lostAt + patience - performance.now()
      if (this.#stopController.signal.aborted || remainingMs <= 0) throw this.#refusal(failure)
      await Promise.race([this.#found.promise, Bun.sleep(remainingMs)])
    }
  }

  /** The same, between two writes. */
  readyToWrite(patience: number): Promise<Connections> {
    if (this.#current && this.#reasonToLeave) this.lose(this.#current, this.#reasonToLeave)
    return this.ready(patience)
  }

  /** Reads on one of the connections. Reads again if the connection is lost within READ_PATIENCE_MS. */
  reader(kind: keyof Connections): Ask {
    return async (query) => {
      for (const startedAt = performance.now(); ; ) {
        const connections = await this.ready(READ_PATIENCE_MS, CANNOT_READ)
        const connection = connections[kind]
        try {
          return await connection.ask(query)
        } catch (error) {
          if (!isInDoubt(error)) throw this.state.refusalOf(error, CANNOT_READ)
          // A bug in this program says nothing about the server.
          if (codeOf(error) === '' && !connection.isLost) throw error
          this.lose(connections, error)
          if (performance.now() > startedAt + READ_PATIENCE_MS) throw this.#refusal(CANNOT_READ)
        }
      }
    }
  }

  /** Prepares the writing connection again, after another process has changed the lane. */
  async renew(connections: Connections): Promise<void> {
    if (this.#current !== connections) return
    await this.policy.prepare(connections.writer).catch((error) => this.lose(connections, error))
  }

  /** Closes the connections, and looks for the server. */
  lose(connections: Connections, error: unknown): void {
    if (this.#current !== connections) return
    this.#current = null
    this.#found = Promise.withResolvers()
    this.#lostAt = performance.now()
    this.#reason = messageOf(error)
    this.state.lose()
    closeAll(Object.values(connections))
    const host = addressOf(connections.writer.host)
    this.storeUser.log('warn', 'server-lost', { host, detail: this.#reason })
    this.#reopen(host)
  }

  /** Closes the connections, if there are any. */
  async close(): Promise<void> {
    this.#stopController.abort()
    clearTimeout(this.#otherHosts)
    const connections = this.#current
    this.#current = null
    this.#found.resolve()
    if (connections) await closeAll(Object.values(connections))
  }

  // The user of a command sees no log.
  #refusal(failure?: string): RequestError {
    if (this.storeUser.outlivesOutages) return new RequestError('storage failed', failure)
    return new RequestError(
      'storage failed',
      `the connection to the database server was lost: ${this.#reason}`,
    )
  }

  #begin(connections: Connections): void {
    const { host, standing } = connections.writer
    this.#last = { host, standing }
    this.#reasonToLeave = null
    this.#current = connections
    this.#askOthersLater(connections)
    this.state.find()
    this.#found.resolve()
    this.onFound()
  }

  #askOthersLater(connections: Connections): void {
    clearTimeout(this.#otherHosts)
    if (!this.storeUser.outlivesOutages || this.target.hosts.length === 1) return
    this.#otherHosts = setTimeout(
      () => this.#askOthers(connections).catch(() => {}),
      OTHERS_EVERY_MS,
    )
  }

  /**
   * Loses the connections if their host answers, and another connect would not choose it: then it is an old primary, or
   * follows one.
   */
  async #askOthers(connections: Connections): Promise<void> {
    const { host, standing } = connections.writer
    const { signal } = this.#stopController
    const { answers, choice } = await survey(this.target, this.policy.choose, signal, {
      ...this.#context,
      last: { host, standing },
      lostFor: 0,
      isContested: true,
      // Whether the lane is still there is found by the next write.
      hasAll: async (other) => other.host === host || this.policy.hasAll(other),
    })
    if (typeof choice !== 'string') choice.connection.close().catch(() => {})
    if (this.#current !== connections) return
    this.#askOthersLater(connections)
    const used = answers.find((answer) => answer.host === host)
    if (!used || choice === used) return
    const reason = typeof choice === 'string' ? choice : `${addressOf(choice.host)} is newer`
    this.#reasonToLeave = new Error(reason)
    if (!this.state.isWriting) this.lose(connections, this.#reasonToLeave)
  }

  get #context(): ConnectContext {
    return {
      last: this.#last,
      lostFor: performance.now() - this.#lostAt,
      isContested: this.#reasonToLeave !== null,
      hasAll: (connection) => this.policy.hasAll(connection),
      onUnusedPrimary: (host) => this.#logUnused(addressOf(host)),
      log: this.storeUser.log,
    }
  }

  #findWriter = (): Promise<Connection> =>
    connect(
      withSettings(this.target, WRITER_SETTINGS),
      this.policy.choose,
      this.#stopController.signal,
      this.#context,
    )

  #logUnused(host: string): void {
    if (this.#loggedUnused.has(host)) return
    this.#loggedUnused.add(host)
    this.storeUser.log('warn', 'server-passed-over', { host, detail: OLDER })
  }

  async #equip(writer: Connection): Promise<Connections> {
    try {
      await this.policy.prepare(writer)
      const readers = this.storeUser.outlivesOutages
        ? await openReaders(this.target, writer, this.policy, this.#stopController.signal)
        : { points: writer, pages: writer, tokens: writer }
      this.#stopController.signal.throwIfAborted()
      return { writer, ...readers }
    } catch (error) {
      closeAll([writer])
      throw error
    }
  }

  async #reopen(from: string): Promise<void> {
    const { log } = this.storeUser
    for (let pause = 0; ; ) {
      await Bun.sleep(pause)
      try {
        const connections = await this.#equip(await this.#findWriter())
        this.reconnects += 1
        const host = addressOf(connections.writer.host)
        const milliseconds = Math.round(performance.now() - this.#lostAt)
        log('info', 'server-found', { host, milliseconds })
        if (host !== from) log('warn', 'server-moved', { from, to: host })
        // Resume last: it flushes the queue and may lose the connections again.
        this.#begin(connections)
        return
      } catch (error) {
        if (this.#stopController.signal.aborted) return
        const detail = messageOf(error)
        if (detail !== this.#reason) log('warn', 'server-still-lost', { detail })
        this.#reason = detail
        pause = Math.min(Math.max(pause * 2, FIRST_PAUSE_MS), MAX_PAUSE_MS)
      }
    }
  }
}
