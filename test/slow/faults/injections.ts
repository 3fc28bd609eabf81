export type Where = 'all' | 'wal' | 'database'

export interface Injection {
  name: string
  about: string
  /** The argument of strace -e inject=. */
  inject: string
  where: Where
  /**
   * The outcome: the daemon ends with 74; or it refuses requests with one of these errors, says so in /health, and lives
   * on; or it refuses some, and may also end.
   */
  outcome: 'ends' | 'refuses' | 'either'
  /** Error numbers that the clients may see. */
  allowed: number[]
}

export const syncs = 'fsync,fdatasync'

export const injections: Injection[] = [
  {
    name: 'fsync-eio',
    about: 'fsync of the write-ahead log fails with EIO',
    inject: `${syncs}:error=EIO`,
    where: 'wal',
    outcome: 'ends',
    allowed: [50301],
  },
  {
    name: 'fsync-eio-database',
    about: 'fsync of the database (a checkpoint) fails with EIO',
    inject: `${syncs}:error=EIO`,
    where: 'database',
    outcome: 'ends',
    allowed: [50301],
  },
  {
    name: 'write-eio',
    about: 'pwrite64 of the write-ahead log fails with EIO',
    inject: 'pwrite64:error=EIO',
    where: 'wal',
    outcome: 'ends',
    allowed: [50301],
  },
  {
    name: 'write-eio-database',
    about: 'pwrite64 of the database (a checkpoint) fails with EIO',
    inject: 'pwrite64:error=EIO',
    where: 'database',
    outcome: 'ends',
    allowed: [50301],
  },
  {
    name: 'write-eio-sometimes',
    about: 'every ninth pwrite64 of each thread fails with EIO',
    inject: 'pwrite64:error=EIO:when=5+9',
    where: 'all',
    outcome: 'ends',
    allowed: [50301],
  },
  {
    name: 'read-eio',
    about: 'pread64 of every file fails with EIO',
    inject: 'pread64:error=EIO',
    where: 'all',
    outcome: 'either',
    allowed: [50302, 50301],
  },
  {
    name: 'stat-eio',
    about: 'the path of every file cannot be looked up',
    inject: `statx,newfstatat,stat,lstat:error=EIO`,
    where: 'all',
    outcome: 'either',
    allowed: [50302, 50301],
  },
  {
    name: 'write-enospc',
    about: 'pwrite64 of every file fails with ENOSPC',
    inject: 'pwrite64:error=ENOSPC',
    where: 'all',
    outcome: 'refuses',
    allowed: [50701, 50301],
  },
  {
    name: 'write-nothing',
    about: 'pwrite64 of the WAL writes 0 bytes',
    inject: 'pwrite64:retval=0',
    where: 'wal',
    outcome: 'refuses',
    allowed: [50701, 50301],
  },
]
