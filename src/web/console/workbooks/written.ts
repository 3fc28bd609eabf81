// The messages with which a thread writes a workbook.

import type { PlantToWrite } from '../../../formats/write.ts'

/** Some plants, in order; null: these were all. */
export type ToWrite = { readonly plants: readonly PlantToWrite[] | null }

export type Written = { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly message: string }
