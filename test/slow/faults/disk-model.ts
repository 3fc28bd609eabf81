// The possible states of a disk after a power loss, from the log of recorder.c.

const kinds = {
  write: 1,
  truncate: 2,
  sync: 3,
  unlink: 4,
  rename: 5,
  create: 6,
  syncFolder: 7,
  mark: 100,
} as const

const sectorSize = 512

export interface Step {
  kind: number
  name: string
  offset: number
  data: Buffer
}

/** A note among those of the recorder: the plant of this number was acknowledged by now. */
export function mark(n: number): Buffer {
  const header = Buffer.alloc(24)
  header.writeUInt32LE(kinds.mark, 0)
  header.writeBigUInt64LE(BigInt(n), 8)
  return header
}

export function markOf(step: Step): number | undefined {
  return step.kind === kinds.mark ? step.offset : undefined
}

export function stepsOf(log: Buffer): Step[] {
  const steps: Step[] = []
  for (let at = 0; at < log.length; ) {
    const nameEnd = at + 24 + log.readUInt32LE(at + 4)
    const dataEnd = nameEnd + Number(log.readBigUInt64LE(at + 16))
    if (dataEnd > log.length) throw new Error('the record of the writes is cut short')
    steps.push({
      kind: log.readUInt32LE(at),
      name: log.toString('utf8', at + 24, nameEnd),
      offset: Number(log.readBigUInt64LE(at + 8)),
      data: log.subarray(nameEnd, dataEnd),
    })
    at = dataEnd
  }
  return steps
}

interface Inode {
  synced: Buffer
  unsynced: Step[]
}

type Folder = Map<string, Inode>

export interface Disk {
  folder: Folder
  syncedFolder: Folder
  unsyncedFolder: { step: Step; inode: Inode }[]
}

export function emptyDisk(): Disk {
  return { folder: new Map(), syncedFolder: new Map(), unsyncedFolder: [] }
}

function write(content: Buffer, offset: number, data: Uint8Array): Buffer {
  const end = offset + data.length
  const grown =
    end <= content.length ? content : Buffer.concat([content, Buffer.alloc(end - content.length)])
  grown.set(data, offset)
  return grown
}

function truncate(content: Buffer, length: number): Buffer {
  if (length <= content.length) return Buffer.from(content.subarray(0, length))
  return Buffer.concat([content, Buffer.alloc(length - content.length)])
}

function rearrange(folder: Folder, step: Step, inode: Inode): void {
  if (step.kind === kinds.create) folder.set(step.name, inode)
  else folder.delete(step.name)
  if (step.kind === kinds.rename) folder.set(step.data.toString(), inode)
}

export function apply(disk: Disk, step: Step): void {
  const { kind, name } = step
  if (kind === kinds.mark) return
  if (kind === kinds.syncFolder) {
    for (const { step, inode } of disk.unsyncedFolder.splice(0)) {
      rearrange(disk.syncedFolder, step, inode)
    }
    return
  }
  let inode = disk.folder.get(name)
  if (inode === undefined || kind === kinds.create) {
    inode = { synced: Buffer.alloc(0), unsynced: [] }
  }
  if (kind === kinds.create || kind === kinds.unlink || kind === kinds.rename) {
    rearrange(disk.folder, step, inode)
    disk.unsyncedFolder.push({ step, inode })
    return
  }
  if (disk.folder.get(name) !== inode) {
    // Created by a call that the recorder does not see, such as a bare system call.
    disk.folder.set(name, inode)
    disk.unsyncedFolder.push({ step: { ...step, kind: kinds.create }, inode })
  }
  if (kind !== kinds.sync) {
    inode.unsynced.push(step)
    return
  }
  for (const { kind, offset, data } of inode.unsynced.splice(0)) {
    inode.synced =
      kind === kinds.write ? write(inode.synced, offset, data) : truncate(inode.synced, offset)
  }
  // A synced file can be found again: its entry in the folder is on the disk too.
  const created = disk.unsyncedFolder.findIndex(
    (entry) => entry.inode === inode && entry.step.kind === kinds.create,
  )
  for (const entry of disk.unsyncedFolder.splice(0, created + 1)) {
    rearrange(disk.syncedFolder, entry.step, entry.inode)
  }
}

/** Of what was not synced, each sector is kept, dropped or torn; each truncation done or not. */
function contentAfterLoss(inode: Inode, kept: number): Buffer {
  let content: Buffer = Buffer.from(inode.synced)
  for (const { kind, offset, data } of inode.unsynced) {
    if (kind === kinds.truncate) {
      if (Math.random() < kept) content = truncate(content, offset)
      continue
    }
    for (let at = 0; at < data.length; ) {
      const end = Math.min(data.length, at + sectorSize - ((offset + at) % sectorSize))
      const torn = Math.random() < 0.05 ? Math.random() : 1
      if (Math.random() < kept) {
        content = write(content, offset + at, data.subarray(at, at + Math.ceil((end - at) * torn)))
      }
      at = end
    }
  }
  return content
}

/** The files that may be found after the power went at this moment. */
export function filesAfterLoss(disk: Disk): Map<string, Buffer> {
  const kept = [0, 0.3, 0.7, 0.95, 1][Math.floor(Math.random() * 5)] ?? 0
  const folder: Folder = new Map(disk.syncedFolder)
  const done = Math.floor(Math.random() * (disk.unsyncedFolder.length + 1))
  for (const { step, inode } of disk.unsyncedFolder.slice(0, done)) rearrange(folder, step, inode)
  return new Map([...folder].map(([name, inode]) => [name, contentAfterLoss(inode, kept)]))
}
