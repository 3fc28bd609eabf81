// What is asked before an import: how the file is read, which columns hold the plants, and what would be stored then.

import { computed, signal } from '@preact/signals'
import type { Settings } from '../../../formats/table.ts'
import { INT64_MAX } from '../../../plant/plant.ts'
import type { Session } from '../session.ts'
import { type Choice, propose, toColumns } from './choice.ts'
import { examine, type Findings } from './examine.ts'
import { type OpenedFile, openFile } from './file.ts'
import { type Look, type Memory, nameFile, type Plan } from './plan.ts'
import { reasonOf } from './words.ts'

/** The id after the largest one; '' if there is none, or nobody says it. */
async function nextFreeId(session: Session): Promise<string> {
  const page = await session.call((client) => client.listPlants({ order: 'desc', limit: 1 }))
  if (!page.ok) return ''
  const largest = page.value.plants[0]?.id ?? 0n
  if (largest === INT64_MAX) return ''
  return String(largest < 0n ? 1n : largest + 1n)
}

export type Preview = Awaited<ReturnType<typeof createPreview>>

/** The questions about a file; `decided` resolves to what to do, null if it is not to be imported. */
export async function createPreview(found: Look, session: Session, memory: Memory) {
  const { file, format, kind } = found
  const decided = Promise.withResolvers<Plan | null>()
  const remembered = memory.get(kind)
  const isSameFile = remembered?.file === nameFile(file)
  const settings = signal<Settings>(found.settings)
  const opened = signal<OpenedFile | null>(found.opened)
  const choice = signal<Choice>({
    ...found.proposal.choice,
    numberFrom: isSameFile ? remembered.choice.numberFrom : await nextFreeId(session),
  })
  const findings = signal<Findings | null>(null)
  /** Why it cannot be read so. */
  const error = signal<string | null>(null)
  const plan = computed<Plan | null>(() => {
    const columns = toColumns(choice.value)
    return columns && opened.value ? { opened: opened.value, columns } : null
  })
  let turn = 0

  async function show(): Promise<void> {
    const mine = ++turn
    const { value } = plan
    if (!value) {
      findings.value = null
      return
    }
    try {
      for await (const it of examine(value.opened, value.columns)) {
        if (mine !== turn) return
        findings.value = it
      }
    } catch (reason) {
      if (mine !== turn || !findings.value) return
      findings.value = {
        ...findings.value,
        notRead: `the rest: ${reasonOf(reason)}`,
        isWhole: true,
      }
    }
  }

  function choose(change: Partial<Choice>): void {
    choice.value = { ...choice.value, ...change }
    void show()
  }

  /** Reads the file in another way. The columns stay as they were chosen, if there are as many. */
  async function read(change: Partial<Settings>): Promise<void> {
    const mine = ++turn
    const width = opened.value?.table.header.length
    settings.value = { ...settings.value, ...change }
    try {
      const next = await openFile(file, format, settings.value)
      const isOther = change.sheet !== undefined || next.table.header.length !== width
      const proposal = isOther ? await propose(next.table) : null
      if (mine !== turn) return
      error.value = null
      opened.value = next
      if (proposal) choice.value = { ...choice.value, ...proposal.choice }
      await show()
    } catch (reason) {
      if (mine !== turn) return
      error.value = reasonOf(reason)
      opened.value = null
      findings.value = null
    }
  }

  if (remembered) {
    const { encoding } = found.settings
    await read({
      ...remembered.settings,
      encoding: encoding === null ? null : remembered.settings.encoding,
    })
    if (opened.value) choose({ ...remembered.choice, numberFrom: choice.value.numberFrom })
    // Such as a sheet that this workbook does not have.
    else await read(found.settings)
  } else void show()

  return {
    file,
    format,
    settings,
    opened,
    choice,
    findings,
    error,
    plan,
    isRemembered: remembered !== undefined,
    isUsual: found.proposal.isUsual,
    decided: decided.promise,
    read,
    choose,

    /** Imports the file as it is shown. */
    accept(): void {
      if (!plan.value) return
      turn += 1
      memory.set(kind, {
        settings: settings.value,
        choice: choice.value,
        file: nameFile(file),
      })
      decided.resolve(plan.value)
    },

    cancel(): void {
      turn += 1
      decided.resolve(null)
    },
  }
}
