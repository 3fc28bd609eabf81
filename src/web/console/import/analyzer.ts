// The analysis that the preview shows. A new one replaces it.

import { signal } from '@preact/signals'
import type { Session } from '../session.ts'
import { reasonOf } from './advice.ts'
import { type Analysis, analyze } from './analyze.ts'
import { createComparison } from './compare.ts'
import type { ImportInput } from './detect-file.ts'

const NOTHING: Analysis = {
  examples: [],
  rows: 0,
  refused: 0,
  problems: [],
  unreadReason: null,
  notices: [],
  comparison: null,
  isWhole: true,
}

export function createAnalyzer(session: Session) {
  const analysis = signal<Analysis | null>(null)
  let latest = 0

  /** Ends the analysis in progress; returns a function that tells whether this one is still the latest. */
  function begin(): () => boolean {
    const turn = ++latest
    return () => turn === latest
  }

  return {
    analysis,
    begin,

    /** Analyzes a file; without an input, there is nothing to show. */
    async analyze(input: ImportInput | null): Promise<void> {
      const isLatest = begin()
      if (!input) {
        analysis.value = null
        return
      }
      let latestPart = NOTHING
      try {
        for await (const part of analyze(
          input.readable,
          input.columns,
          createComparison(session),
        )) {
          if (!isLatest()) return
          latestPart = part
          analysis.value = part
        }
      } catch (error) {
        if (!isLatest()) return
        const reason = reasonOf(error)
        const unreadReason = latestPart.rows === 0 ? reason : `the rest: ${reason}`
        analysis.value = { ...latestPart, unreadReason, isWhole: true }
      }
    },
  }
}
