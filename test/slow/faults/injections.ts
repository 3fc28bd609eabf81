export type Where = 'all' | 'wal' | 'database'

export interface Injection {
  name: string
  about: string
  /** The argument of strace -e inject=. */
  inject: string
  where: Where
  /** Error numbers that the clients may see. */
  allowed: number[]
}

export const syncs = 'fsync,fdatasync'
const io = [50302, 50301]
const full = [50701, 50301]

export const injections: Injection[] = [
  {
    name: 'fsync-eio',
    about: 'fsync of every file fails with EIO',
    inject: `${syncs}:error=EIO`,
    where: 'all',
    allowed: io,
  },
  {
    name: 'fsync-eio-wal',
    about: 'fsync of the WAL fails with EIO',
    inject: `${syncs}:error=EIO`,
    where: 'wal',
    allowed: io,
  },
  {
    name: 'fsync-eio-database',
    about: 'fsync of the database (a checkpoint) fails with EIO',
    inject: `${syncs}:error=EIO`,
    where: 'database',
    allowed: io,
  },
  {
    name: 'fsync-eio-sometimes',
    about: 'every seventh fsync of each thread fails with EIO',
    inject: `${syncs}:error=EIO:when=2+7`,
    where: 'all',
    allowed: io,
  },
  {
    name: 'read-eio',
    about: 'pread64 of every file fails with EIO',
    inject: 'pread64:error=EIO',
    where: 'all',
    allowed: io,
  },
  {
    name: 'stat-eio',
    about: 'the path of every file cannot be looked up',
    inject: `statx,newfstatat,stat,lstat:error=EIO`,
    where: 'all',
    allowed: io,
  },
  {
    name: 'write-eio',
    about: 'pwrite64 of every file fails with EIO',
    inject: 'pwrite64:error=EIO',
    where: 'all',
    allowed: io,
  },
  {
    name: 'write-eio-sometimes',
    about: 'every ninth pwrite64 of each thread fails with EIO',
    inject: 'pwrite64:error=EIO:when=5+9',
    where: 'all',
    allowed: io,
  },
  {
    name: 'write-enospc',
    about: 'pwrite64 of every file fails with ENOSPC',
    inject: 'pwrite64:error=ENOSPC',
    where: 'all',
    allowed: full,
  },
  {
    name: 'write-enospc-wal',
    about: 'pwrite64 of the WAL fails with ENOSPC',
    inject: 'pwrite64:error=ENOSPC',
    where: 'wal',
    allowed: full,
  },
  {
    name: 'write-enospc-database',
    about: 'pwrite64 of the database (a checkpoint) fails with ENOSPC',
    inject: 'pwrite64:error=ENOSPC',
    where: 'database',
    allowed: [...io, ...full],
  },
  {
    name: 'write-nothing',
    about: 'pwrite64 of the WAL writes 0 bytes',
    inject: 'pwrite64:retval=0',
    where: 'wal',
    allowed: [...io, ...full],
  },
]
