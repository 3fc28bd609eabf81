// The messages to and from the thread that writes a workbook.

import type { PlantToWrite } from '../../../formats/write.ts'

/** The next plants; null: the end. */
export type WriteRequest = { readonly plants: readonly PlantToWrite[] | null }

/** The result: the file, or the reason that there is none. */
export type WriteResult = { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly message: string }
