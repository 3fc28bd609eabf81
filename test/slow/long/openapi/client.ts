import createClient from 'openapi-fetch'
import type { paths } from './types'

const FAR = '9007199254740993'

/** A program that uses the description. */
export async function exercise(baseUrl: string, token: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
  const path = { id: 1 }
  const created = await client.POST('/plants', { body: { id: 1, name: 'Monstera', tag: 'aroid' } })
  const read = await client.GET('/plants/{id}', { params: { path } })
  const listed = await client.GET('/plants', { params: { query: { limit: 10, tag: 'aroid' } } })
  const replaced = await client.PUT('/plants/{id}', { params: { path }, body: { name: 'Fern' } })
  const tagged = await client.PATCH('/plants/{id}', {
    params: { path, header: { 'If-Match': replaced.response.headers.get('etag') ?? '' } },
    body: { tag: 'fern' },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  const deleted = await client.DELETE('/plants/{id}', { params: { path } })
  const gone = await client.GET('/plants/{id}', { params: { path } })
  return {
    created: created.data,
    read: read.data,
    listed: listed.data,
    replaced: replaced.data,
    tagged: tagged.data,
    deleted: deleted.response.status,
    gone: gone.error,
  }
}

/** Every name, page by page of one plant, from an id on that no number of JavaScript stands for. */
export async function namesBehind(baseUrl: string, token: string): Promise<string[]> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
  const names: string[] = []
  let after: string | null = FAR
  while (after !== null && names.length < 10) {
    const page: Awaited<ReturnType<typeof list>> = await list(after)
    names.push(...(page.data?.plants.map(({ name }) => name) ?? []))
    after = page.data?.next ?? null
  }
  return names

  function list(from: string) {
    return client.GET('/plants', { params: { query: { limit: 1, after: from } } })
  }
}
