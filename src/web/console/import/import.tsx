// One file, from its first bytes to its last plant. Loaded after the page: it has the readers of all formats.

import type { VNode } from 'preact'
import type { Session } from '../session.ts'
import { look, type Memory, type Plan, planOf } from './plan.ts'
import { createPreview } from './preview.ts'
import { PreviewForm } from './preview-form.tsx'
import { run } from './run.ts'
import type { Import } from './state.ts'
import { reasonOf } from './words.ts'

/** What an import works with, and where it shows itself. */
export type Surroundings = {
  readonly session: Session
  readonly memory: Memory
  readonly signal: AbortSignal
  readonly update: (change: (before: Import) => Partial<Import>) => void
  /** Shows a form; null: none. */
  readonly ask: (form: VNode | null) => void
}

/** How a file is to be read: as before; or as is asked, always or if it does not fit. */
export type Manner = Plan | 'ask' | 'ask if needed'

/** Finds out how a file is to be read. Resolves to null if it is not to be imported. */
async function findPlan(file: File, manner: Exclude<Manner, Plan>, around: Surroundings) {
  const { session, memory, signal, update, ask } = around
  const found = await look(file)
  const plan = manner === 'ask' ? null : await planOf(found)
  if (plan || signal.aborted) return plan
  update(() => ({ state: 'asking' }))
  const preview = await createPreview(found, session, memory)
  signal.addEventListener('abort', preview.cancel)
  ask(<PreviewForm preview={preview} />)
  const decided = await preview.decided
  signal.removeEventListener('abort', preview.cancel)
  ask(null)
  return decided
}

/** Imports a file. Resolves to how it was read; null: it was not. Never rejects. */
export async function importFile(
  file: File,
  manner: Manner,
  around: Surroundings,
): Promise<Plan | null> {
  const { session, signal, update } = around
  let plan: Plan | null
  try {
    plan = typeof manner === 'string' ? await findPlan(file, manner, around) : manner
  } catch (error) {
    update(() => ({ state: 'failed', reason: reasonOf(error), isOfFile: true }))
    return null
  }
  if (!plan) {
    update(() => ({ state: 'cancelled' }))
    return null
  }
  update(() => ({ state: 'running' }))
  await run(plan, session, signal, update)
  return plan
}
