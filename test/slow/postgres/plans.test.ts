// The server's plans for a page of plants.

import { expect } from 'bun:test'
import type { SQL } from 'bun'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { listPlants } from '../../../src/engine/postgres/sql/plants'
import { ORDERS } from '../../../src/plant/plants'
import { onServers } from '../../harness/own-server'
import { newDatabase, openAt, targetOf } from '../../harness/postgres-store'

const test = onServers('a page of plants in %s')

test('is read by the primary key, in either order', async (server) => {
  const url = await newDatabase(server)
  await (await openAt(url)).close()
  const { sql, close } = await connect(targetOf(url))
  await sql.unsafe(
    `INSERT INTO plants SELECT i, 'plant ' || i, 'tag ' || i % 100 FROM generate_series(1, 50000) i`,
  )
  await sql.unsafe('ANALYZE plants')
  const explain = async (text: string, values: unknown[]): Promise<string> => {
    const lines: Record<'QUERY PLAN', string>[] = await sql.unsafe(`EXPLAIN ${text}`, values)
    return lines.map((line) => line['QUERY PLAN']).join('\n')
  }

  for (const order of ORDERS) {
    const direction = order === 'asc' ? '' : ' Backward'
    for (const names of [undefined, ['plant']]) {
      let plan = ''
      const explainer = {
        unsafe: async (text: string, values: unknown[]) => {
          plan = await explain(text, values)
          return []
        },
      } as unknown as SQL
      await listPlants(explainer, { order, after: 25_000n, limit: 100, names })
      // The limit of a page applies before any sort.
      expect(plan).toMatch(
        new RegExp(`Limit.*\\n *->  Index Scan${direction} using plants_pkey on plants`),
      )
    }
  }
  await close()
})
