// bun make-schema.ts URL NAME: makes a schema in the database of a server; its password is in PGPASSWORD.
import { SQL } from 'bun'

const [url = '', name = ''] = Bun.argv.slice(2)
const sql = new SQL(url, { max: 1, tls: 'disable' })
await sql.unsafe(`CREATE SCHEMA IF NOT EXISTS ${name}`)
await sql.close()
