// Retention over starts of daemons whose clocks are right or wrong.
import { expect, test } from 'bun:test'
import { type Removal, type RetainedLog, Retention } from '../../src/change-log/retention'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const YEAR = 365 * DAY
const KEEP = 30 * DAY
const START = Date.parse('2030-01-01T00:00:00Z')

/** A change log in memory, and the true time. Its entries are numbered from 1. */
class World {
  keepMs = KEEP
  true = START
  /** The error of the clock. */
  wrong = 0
  last = 0
  entries: { number: bigint; at: bigint; written: number }[] = []
  events: Removal[] = []
  removals = 0
  pauses = 0
  onPause: () => void = () => {
    this.pauses += 1
  }
  #retention: Retention | undefined

  get clock(): number {
    return this.true + this.wrong
  }

  write(count = 1): void {
    for (let index = 0; index < count; index++) {
      this.last += 1
      this.entries.push({ number: BigInt(this.last), at: BigInt(this.clock), written: this.true })
    }
  }

  /** Starts a daemon, with a clock that is wrong by this much. */
  start(wrong = 0): void {
    this.wrong = wrong
    const log: RetainedLog = {
      state: async () => ({
        keepMs: this.keepMs,
        first: Number(this.entries[0]?.number ?? this.last + 1),
        last: this.last,
      }),
      times: async (after, limit) =>
        this.entries.filter(({ number }) => number > after).slice(0, limit),
      remove: async (upTo) => {
        this.removals += 1
        const { clock, keepMs } = this
        const stays = ({ number, at }: { number: bigint; at: bigint }) =>
          number > upTo || (Number(at) >= clock - keepMs && Number(at) <= clock)
        const first = this.entries.findIndex(stays)
        this.entries.splice(0, Math.min(first < 0 ? this.entries.length : first, 1000))
      },
    }
    const began = this.true
    this.#retention = new Retention(log, (removed) => this.events.push(removed), {
      now: () => this.true - began,
      pause: async () => this.onPause(),
    })
  }

  end(): void {
    this.#retention?.end()
  }

  /** Lets the daemon run, with an entry every `every` milliseconds. */
  async run(milliseconds: number, every = Number.POSITIVE_INFINITY): Promise<void> {
    const end = this.true + milliseconds
    let [nextLook, nextEntry] = [this.true, this.true + every]
    while (this.true < end) {
      if (nextLook <= this.true) nextLook = this.true + ((await this.#retention?.check()) ?? 0)
      if (nextEntry <= this.true) {
        this.write()
        nextEntry = this.true + every
      }
      this.true = Math.min(end, nextLook, nextEntry)
    }
  }

  /** The true age of the oldest entry. */
  get oldest(): number {
    return this.true - (this.entries[0]?.written ?? this.true)
  }
}

/** A store with an entry each three hours for 40 days, served with a right clock. */
async function settled(): Promise<World> {
  const world = new World()
  world.start()
  await world.run(40 * DAY, 3 * HOUR)
  return world
}

test('retention removes only entries that are older than the period', async () => {
  const world = await settled()

  expect(world.oldest).toBeGreaterThanOrEqual(KEEP - 3 * HOUR)
  expect(world.oldest).toBeLessThan(KEEP + 14 * HOUR)
})

test('retention waits an hour after the start, then logs the numbers of entries before and after', async () => {
  const world = await settled()
  const before = world.entries.length
  world.true += 20 * DAY
  world.write(5)
  const { removals } = world
  world.events = []
  world.start()
  await world.run(HOUR)
  expect({ removals: world.removals, events: world.events }).toEqual({ removals, events: [] })

  await world.run(HOUR)

  const after = world.entries.length
  expect(world.events).toEqual([{ removed: before + 5 - after, before: before + 5, after }])
})

test.each([
  ['a year', YEAR],
  ['forty days', 40 * DAY],
])(
  'retention keeps the change log if the clock is %s ahead at one start, or for a day',
  async (_, ahead) => {
    const world = await settled()
    const { oldest } = world
    const before = world.entries.length
    world.start(ahead)
    await world.run(12 * HOUR, HOUR)
    world.start(ahead)
    await world.run(12 * HOUR, HOUR)

    // As many days as passed, and one for the jump.
    expect(world.oldest).toBeGreaterThan(oldest - 2 * DAY)
    expect(world.entries.length).toBeGreaterThan(before - 2 * 8)

    world.start()
    await world.run(5 * DAY, 3 * HOUR)
    expect(world.oldest).toBeGreaterThanOrEqual(KEEP - 3 * HOUR)
  },
)

test('retention removes entries that were written while the clock was ahead, once they are old', async () => {
  const world = new World()
  world.start(YEAR)
  await world.run(DAY, HOUR)
  world.start()
  await world.run(KEEP + 2 * DAY, 6 * HOUR)

  expect(world.oldest).toBeLessThan(KEEP + 14 * HOUR)
})

test('retention keeps entries that were written while the clock was behind', async () => {
  const world = new World()
  world.start(-60 * YEAR)
  await world.run(DAY, HOUR)
  world.start()
  await world.run(20 * DAY, 6 * HOUR)

  expect(world.oldest).toBe(21 * DAY - HOUR)
})

test('retention removes old entries while the clock is behind', async () => {
  const world = await settled()
  world.start(-60 * YEAR)
  await world.run(10 * DAY, 3 * HOUR)

  expect(world.oldest).toBeGreaterThanOrEqual(KEEP - 3 * HOUR)
  expect(world.oldest).toBeLessThan(KEEP + 14 * HOUR)
})

test('retention keeps the change log when the clock jumps ahead while the daemon runs', async () => {
  const world = await settled()
  world.wrong = YEAR
  await world.run(DAY, 3 * HOUR)

  expect(world.oldest).toBeGreaterThanOrEqual(KEEP - 3 * HOUR)
})

test('retention removes old entries of an unchanged store once a daemon has run for the period', async () => {
  const world = new World()
  world.start()
  world.write(3000)
  await world.run(KEEP + 3 * HOUR)

  expect(world.entries).toEqual([])
  expect(world.events).toEqual([{ removed: 3000, before: 3000, after: 0 }])
  // Between two parts of the times that it read, and after each of three removals.
  expect(world.pauses).toBe(4)
})

test('a stopped removal ends between two steps', async () => {
  const world = new World()
  world.start()
  world.write(3000)
  world.onPause = () => world.end()
  await world.run(KEEP + 3 * HOUR)
  expect(world.removals).toBeLessThanOrEqual(1)

  world.start()
  const { removals } = world
  await world.run(2 * HOUR)
  expect(world.removals).toBe(removals)
  expect(world.entries.length).toBeGreaterThanOrEqual(2000)
})

test('retention removes entries of a short period soon', async () => {
  const world = new World()
  world.keepMs = 1000
  world.write(10)
  world.start()
  await world.run(4000)

  expect(world.entries).toEqual([])
})

test('retention retries a removal that failed', async () => {
  const world = new World()
  world.write(10)
  world.start()
  // By the clock, they stay young.
  await world.run(DAY)
  world.wrong = -KEEP + DAY
  await world.run(KEEP)
  expect(world.entries).toHaveLength(10)

  world.wrong = 0
  await world.run(3 * HOUR)

  expect(world.entries).toEqual([])
})

test('retention removes in one step the entries within a hundredth of the period', async () => {
  const world = new World()
  world.keepMs = 400 * HOUR
  world.start()
  await world.run(410 * HOUR, HOUR)
  world.events = []
  await world.run(100 * HOUR, HOUR)

  expect(world.events).toHaveLength(25)
  expect(world.oldest).toBeLessThanOrEqual(404 * HOUR)
})

test('a pause between two entries counts for a tenth of the period', async () => {
  const world = new World()
  world.keepMs = 100 * HOUR
  world.write()
  world.true += 90 * HOUR
  world.write()
  world.start()
  await world.run(90 * HOUR)
  expect(world.entries).toHaveLength(2)
  await world.run(2 * HOUR)
  expect(world.entries).toHaveLength(1)
})

test('retention checks at most once a second, and pauses between steps', async () => {
  const started = performance.now()
  let first = 1
  const log: RetainedLog = {
    state: async () => ({ keepMs: 0, first, last: 5 }),
    times: async () => [{ number: 5n, at: 0n }],
    remove: async () => {
      first += 1
    },
  }

  expect(await new Retention(log, () => {}).check()).toBe(1000)
  expect(first).toBe(6)
  expect(performance.now() - started).toBeGreaterThan(5 * 15)
})
