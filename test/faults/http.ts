// The HTTP client of the harness, by its old path.
export { type Answer, type Connection, connect, once, pour, request } from '../harness/http.ts'
