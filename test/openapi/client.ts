import createClient from 'openapi-fetch'
import type { paths } from './types'

/** What a user of the description writes. */
export async function exercise(baseUrl: string, token: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
  const path = { id: 1 }
  const created = await client.POST('/plants', { body: { id: 1, name: 'Monstera', tag: 'aroid' } })
  const read = await client.GET('/plants/{id}', { params: { path } })
  const listed = await client.GET('/plants', { params: { query: { limit: 10, tag: 'aroid' } } })
  const replaced = await client.PUT('/plants/{id}', { params: { path }, body: { name: 'Fern' } })
  const deleted = await client.DELETE('/plants/{id}', { params: { path } })
  const gone = await client.GET('/plants/{id}', { params: { path } })
  return {
    created: created.data,
    read: read.data,
    listed: listed.data,
    replaced: replaced.data,
    deleted: deleted.response.status,
    gone: gone.error,
  }
}
