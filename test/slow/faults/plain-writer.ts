// The control of a file system that is shut down: a loop of write and fsync, without any plantstore. It writes the
// number of each record to standard output once its fsync has returned 0.
import { fsyncSync, openSync, writeSync } from 'node:fs'

const RECORD_BYTES = 8

const fd = openSync(process.argv[2] ?? '', 'w')
const record = Buffer.alloc(RECORD_BYTES)
for (let n = 1; ; n++) {
  record.writeBigInt64LE(BigInt(n))
  writeSync(fd, record)
  fsyncSync(fd)
  console.log(n)
}
