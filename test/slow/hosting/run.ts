// bun test/slow/hosting/run.ts [--only name[,name]] : runs what docs/hosting.md says, each program as Debian or Go
// install it. Each case has namespaces of its own: a network, and private copies of /etc, /run and /var. It needs root.
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { builtProgram } from '../../harness/daemon.ts'
import { run, startProcess } from '../../harness/process.ts'
import { Skipped } from '../faults/fault.ts'
import { need, temporaryFolder, undoAll } from '../faults/lab.ts'
import { print, printSum } from '../faults/results.ts'
import { apache } from './apache.ts'
import { caddy } from './caddy.ts'
import { type Case, prepareMachine } from './case.ts'
import { haproxy } from './haproxy.ts'
import { litestream } from './litestream.ts'
import { nginx } from './nginx.ts'
import { prometheus } from './prometheus.ts'

const cases: readonly Case[] = [nginx, caddy, apache, haproxy, prometheus, litestream]
// Debian starts the daemons that it installs, unless this file says no.
const POLICY = '/usr/sbin/policy-rc.d'

const { values } = parseArgs({
  options: { only: { type: 'string' }, inside: { type: 'string' } },
})

const [program = ''] = builtProgram()
const unshare = ['unshare', '--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']

/** Throws a `Skipped` where this machine has no namespaces or no overlays, as in most containers. */
async function checkNamespaces(): Promise<void> {
  const { code, err } = await run([...unshare, process.execPath, import.meta.path, '--inside', ''])
  if (code !== 0) throw new Skipped(`needs namespaces and overlays: ${err.trim().split('\n')[0]}`)
}

async function install({ install }: Case): Promise<string | null> {
  try {
    await need('unshare', 'ip')
    await checkNamespaces()
    const isOurs = !existsSync(POLICY)
    if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
    if (isOurs) chmodSync(POLICY, 0o755)
    try {
      await install()
    } finally {
      if (isOurs) rmSync(POLICY)
    }
    return null
  } catch (error) {
    if (error instanceof Skipped) return error.message
    throw error
  }
}

/** Runs a case in a process of its own, in its own namespaces. */
async function runApart(testCase: Case): Promise<void> {
  const started = performance.now()
  const env = {
    TESTED_BINARY: program,
    PATH: `${dirname(program)}:${dirname(program)}/hosting:${Bun.env.PATH}`,
  }
  const self = [process.execPath, import.meta.path, '--inside', testCase.name]
  await using child = startProcess([...unshare, ...self], { env })
  const code = await child.finished
  if (code === 0) print('passed', testCase, started, [])
  else print('FAILED', testCase, started, [(child.out() + child.err()).trim()])
}

/** Runs a case in the namespaces of this process; with an empty name, it only prepares them. */
async function runInside(name: string): Promise<number> {
  try {
    await prepareMachine(temporaryFolder())
    const testCase = cases.find((each) => each.name === name)
    await testCase?.run()
    return 0
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return 1
  } finally {
    await undoAll()
  }
}

async function main(): Promise<number> {
  const names = values.only?.split(',') ?? cases.map(({ name }) => name)
  const running: Promise<void>[] = []
  for (const name of names) {
    const testCase = cases.find((each) => each.name === name)
    if (!testCase) throw new Error(`unknown case: ${name}`)
    const reason = await install(testCase)
    // Most of their time they wait: so they run together.
    if (reason === null) running.push(runApart(testCase))
    else print('skipped', testCase, performance.now(), [reason])
  }
  await Promise.all(running)
  return printSum()
}

process.exit(values.inside === undefined ? await main() : await runInside(values.inside))
