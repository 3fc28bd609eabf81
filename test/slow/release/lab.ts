// Resources of release tests: files, tools of the machine, and one day in the life of a daemon.
import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../../../package.json'
import { root, startDaemon } from '../../harness/daemon'
import { runWell } from '../../harness/process'
import { Skipped } from '../faults/fault'
import { need } from '../faults/lab'

export const { version } = packageJson

/** A file of the release in dist/release/. */
export const released = (name: string): string => join(root, 'dist/release', name)

/** An executable of the release, by its target. */
export const executable = (target: string): string =>
  released(`plantstore-${version}-linux-${target}`)

/** Installs tools; false, and says why, where that is not possible. */
export async function has(...tools: string[]): Promise<boolean> {
  try {
    await need(...tools)
    return true
  } catch (error) {
    if (!(error instanceof Skipped)) throw error
    console.log(`skipped: ${error.message}`)
    return false
  }
}

/** Runs a command; returns all that it prints, and throws if it fails. */
export async function sh(command: readonly string[], env: Record<string, string> = {}) {
  const { out, err } = await runWell(command, { env })
  return out + err
}

/** The mirror of Debian's packages that apt on this machine uses. */
export function debianMirror(): string {
  const files = [...new Bun.Glob('/etc/apt/sources.list{,.d/*}').scanSync('/')]
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  const [, uri] = /^(?:URIs:|deb(?: \[.*?\])?) +(http\S+\/debian\/?)(?:\s|$)/m.exec(text) ?? []
  return uri ?? 'http://deb.debian.org/debian'
}

/** Starts a daemon, creates a plant, kills it, starts it again, reads the plant and stops it. */
export async function expectToSurviveKill(program: readonly string[], database: string) {
  const id = '9223372036854775807'
  {
    await using daemon = await startDaemon({ program, database })
    const answer = await daemon.create(`{"id":${id},"name":"Monstera deliciosa","tag":"aroid"}`)
    expect(await answer.text()).toBe('{"name":"Monstera deliciosa","tag":"aroid"}')
    await daemon.stop('SIGKILL')
  }
  await using daemon = await startDaemon({ program, database })
  const answer = await daemon.fetch(`/plants/${id}`)
  expect(await answer.text()).toBe(`{"id":${id},"name":"Monstera deliciosa","tag":"aroid"}`)
  expect(await daemon.stop()).toBe(0)
}
