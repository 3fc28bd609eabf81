// The messages with which a thread writes a workbook.

import type { PlantToWrite } from '../../../formats/write.ts'

/** Some plants, in order; null: these were all. */
export type PlantsToWrite = { readonly plants: readonly PlantToWrite[] | null }

export type WrittenWorkbook =
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly message: string }
