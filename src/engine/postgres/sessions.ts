// The session with the writable server: one connection that commits, others that read, all on one host. When any is lost,
// all are closed, and the hosts are tried in turn until one takes writes again.

import { codeOf, messageOf, PlantError } from '../../errors'
import type { Role } from '../role'
import { type Connection, connect } from './connection'
import type { Counters } from './counters'
import { errorNumberOf, explainOpening, isInDoubt, isReadOnlyServer } from './errors'
import { connectionsOf, measure, READ_DEADLINE_MS, type Session } from './session'
import { addressOf, type PostgresTarget } from './url'

/** How long a change waits for a server that is lost, and a read. Then it is refused. */
export const PATIENCE_MS = 10_000
const READ_PATIENCE_MS = 2000

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000
// While the server is away, the log says so from time to time.
const LOGGED_EVERY_MS = 10_000

/** The sessions of one store, one after the other. */
export class Sessions {
  #current: Session | null = null
  #host = ''
  /** When the last session was lost; null while there is one. */
  #lostAt: number | null = null
  #reason = ''
  #isClosed = false
  #waiting: (() => void)[] = []
  /** The hosts, in the order in which they are tried next. */
  #hosts: PostgresTarget['hosts']

  /**
   * `prepare` is called with each new connection that is to commit, before it is used: where it rejects, there is no session.
   * `begun` is called when there is one.
   */
  constructor(
    private readonly target: PostgresTarget,
    private readonly role: Role,
    private readonly counters: Counters,
    private readonly hooks: {
      readonly prepare: (connection: Connection) => Promise<void>
      readonly begun: () => void
    },
  ) {
    this.#hosts = target.hosts
  }

  /** Opens the first session. Rejects with an `OpenError` where no host can be used. */
  async open(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const writer = await this.#findWriter()
      try {
        this.#begin(await this.#equip(writer))
        return
      } catch (error) {
        // It takes writes and cannot confirm them: the next host may.
        if (tries >= this.#hosts.length) throw await explainOpening(error, writer.host, this.target)
      }
    }
  }

  /** Why nothing can be committed for now; null where it can. */
  problem(): PlantError | null {
    if (this.#current) return null
    const seconds = Math.floor((performance.now() - (this.#lostAt ?? 0)) / 1000)
    return new PlantError(50302, `the database server is lost since ${seconds} s`)
  }

  /** The round trip to the server, in milliseconds; 0 while it is lost. */
  roundTrip = (): number => this.#current?.roundTrip ?? 0

  /** The session; where there is none, it is waited for until the last one is lost for so long. Rejects with 50302. */
  async ready(patience = PATIENCE_MS): Promise<Session> {
    for (;;) {
      const session = this.#current
      if (session) {
        const lost = [...connectionsOf(session)].find((it) => it.isLost)
        if (!lost) return session
        this.lose(session, new Error('the server closed the connection'))
      }
      const left = (this.#lostAt ?? 0) + patience - performance.now()
      if (this.#isClosed || left <= 0) throw this.#refusal()
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      const timer = setTimeout(resolve, left)
      await promise
      clearTimeout(timer)
    }
  }

  /** Asks one of the connections that read; once more, where the server is lost meanwhile. */
  async read<T>(kind: 'points' | 'pages', ask: (it: Connection) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const session = await this.ready(READ_PATIENCE_MS)
      try {
        return await session[kind].within(READ_DEADLINE_MS, ask(session[kind]))
      } catch (error) {
        if (!isInDoubt(error)) throw this.refuse(error)
        // A fault of this program says nothing of the server.
        if (codeOf(error) === '' && !session[kind].isLost) throw error
        this.lose(session, error)
        if (tries === 2) throw this.#refusal()
      }
    }
  }

  /** Closes a session that is of no more use, and looks for the next. */
  lose(session: Session, error: unknown): void {
    if (this.#current !== session) return
    this.#current = null
    this.#lostAt = performance.now()
    this.#reason = messageOf(error)
    for (const connection of connectionsOf(session)) connection.close().catch(() => {})
    // A server that cannot be written to any more is asked last.
    if (isReadOnlyServer(error)) this.#rotate()
    if (this.#isClosed) return
    this.role.log('warn', 'server-lost', { host: session.writer.host, detail: this.#reason })
    this.#reopen()
  }

  /** What a client, or the user of a command, is told of an answer of the server. */
  refuse(error: unknown): PlantError {
    if (error instanceof PlantError) return error
    const number = errorNumberOf(error)
    if (this.role.outlivesOutages) return new PlantError(number)
    return new PlantError(number, `the database server answered: ${messageOf(error)}`)
  }

  /** Closes the session, in an outage none. */
  async close(): Promise<void> {
    this.#isClosed = true
    const session = this.#current
    this.#current = null
    this.#announce()
    if (!session) return
    await Promise.all([...connectionsOf(session)].map((it) => it.close().catch(() => {})))
  }

  #refusal(): PlantError {
    if (this.role.outlivesOutages) return new PlantError(50302)
    return new PlantError(50302, `the database server is lost: ${this.#reason}`)
  }

  #announce(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #rotate(): void {
    const [first, ...others] = this.#hosts
    if (first) this.#hosts = [...others, first]
  }

  #begin(session: Session): void {
    if (this.#isClosed) {
      for (const connection of connectionsOf(session)) connection.close().catch(() => {})
      return
    }
    this.#current = session
    this.#host = session.writer.host
    this.#lostAt = null
    this.#announce()
    this.hooks.begun()
  }

  #findWriter = (): Promise<Connection> => connect({ ...this.target, hosts: this.#hosts })

  async #equip(writer: Connection): Promise<Session> {
    const opened = [writer]
    try {
      await this.hooks.prepare(writer)
      const roundTrip = await measure(writer)
      if (!this.role.outlivesOutages) return { writer, points: writer, pages: writer, roundTrip }
      const hosts = this.#hosts.filter((it) => addressOf(it) === writer.host)
      const connectReader = async () => {
        const reader = await connect({ ...this.target, hosts })
        opened.push(reader)
        return reader
      }
      const [points, pages] = await Promise.all([connectReader(), connectReader()])
      return { writer, points, pages, roundTrip }
    } catch (error) {
      for (const connection of opened) connection.close().catch(() => {})
      // The next host may be the one that can confirm.
      this.#rotate()
      throw error
    }
  }

  async #reopen(): Promise<void> {
    const { log } = this.role
    const from = this.#host
    const lostAt = performance.now()
    let loggedAt = lostAt
    for (let pause = 0; !this.#isClosed; ) {
      await Bun.sleep(pause)
      try {
        this.#begin(await this.#equip(await this.#findWriter()))
        this.counters.reconnects += 1
        const milliseconds = Math.round(performance.now() - lostAt)
        log('info', 'server-found', { host: this.#host, milliseconds })
        if (this.#host === from) return
        this.counters.failovers += 1
        log('warn', 'server-moved', { from, to: this.#host })
        return
      } catch (error) {
        this.#reason = messageOf(error)
        if (performance.now() - loggedAt >= LOGGED_EVERY_MS) {
          loggedAt = performance.now()
          log('warn', 'server-still-lost', { detail: this.#reason })
        }
        pause = Math.min(Math.max(pause * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
      }
    }
  }
}
