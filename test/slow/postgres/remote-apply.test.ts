// A primary with synchronous_commit = remote_apply: each commit waits until the standby has applied it.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../../tools/postgres/server'
import { builtProgram, PATIENCE_MS, startDaemon } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const PROGRAM = builtProgram()
const CLIENTS = 16

describeServers('remote_apply with %s', (_, installation) => {
  const canCopy = existsSync(join(installation.bin, 'pg_basebackup'))

  test.skipIf(!canCopy)('waits for a standby that lags or stops, and loses no plant', async () => {
    await using primary = await startPostgres(installation)
    await using standby = await startPostgres(installation, { standbyOf: primary })
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    await primary.query('ALTER SYSTEM SET synchronous_commit = remote_apply')
    await primary.query('SELECT pg_reload_conf()')
    const url = await primary.createDatabase('plants')
    await using daemon = await startDaemon({ program: PROGRAM, env: { PLANTSTORE_DATABASE: url } })
    const acknowledgedIds: number[] = []
    const others = new Set<number>()
    let next = 1
    let isOver = false
    const client = async () => {
      while (!isOver) {
        const id = next
        next += 1
        const answer = await daemon.create(`{"id":${id},"name":"plant"}`).catch(() => null)
        if (!answer) return
        if (answer.ok) acknowledgedIds.push(id)
        else others.add(answer.status)
      }
    }
    const clients = Array.from({ length: CLIENTS }, client)
    const isHealthy = async () => (await daemon.fetch('/health')).ok
    const goOn = async () => {
      const from = acknowledgedIds.length
      await until('creates', () => acknowledgedIds.length > from + 100)
      await until('health', isHealthy)
    }
    /** The plants acknowledged so far that the standby does not show. */
    const missingIds = async () => {
      const expectedIds = [...acknowledgedIds]
      const rows = await standby.query('SELECT id::int AS id FROM plants', url)
      const shownIds = new Set(rows.map(({ id }: { id: number }) => id))
      return expectedIds.filter((id) => !shownIds.has(id))
    }

    await goOn()
    expect(await missingIds()).toEqual([])
    // The standby has the log on its disk, but does not apply it.
    await standby.query('SELECT pg_wal_replay_pause()')
    await until('bad health', async () => !(await isHealthy()))
    expect(await missingIds()).toEqual([])
    await standby.query('SELECT pg_wal_replay_resume()')
    await goOn()

    await standby.stop()
    await until('bad health', async () => !(await isHealthy()))
    await standby.start()
    await goOn()
    isOver = true
    await Promise.all(clients)

    expect(await missingIds()).toEqual([])
    expect([...others].filter((status) => status !== 503)).toEqual([])
  })
})
