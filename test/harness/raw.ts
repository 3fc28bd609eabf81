// The raw connections of older tests: `harness/http` by other names.
import { connect as connectTo } from './http'

export { head } from './http'

export async function connect(url: string) {
  const connection = await connectTo(url)
  return { ...connection, send: connection.write }
}
