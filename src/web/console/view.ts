// A search and an order.

import { type Query, textOf } from './query.ts'
import { type Sort, sortText } from './sort.ts'

export type View = { readonly query: Query; readonly sort: Sort }

export const isSameView = (a: View, b: View): boolean =>
  textOf(a.query) === textOf(b.query) && sortText(a.sort) === sortText(b.sort)
