import { auth } from './auth'
import type { Case } from './case'
import { changes } from './changes'
import { connections } from './connections'
import { headers } from './headers'
import { json } from './json'
import { lists } from './lists'
import { methods } from './methods'
import { numbers } from './numbers'
import { paths } from './paths'
import { sizes } from './sizes'
import { smuggling } from './smuggling'
import { types } from './types'
import { unicode } from './unicode'

/** Every case, by its theme. */
export const catalogue: Readonly<Record<string, readonly Case[]>> = {
  json,
  unicode,
  numbers,
  types,
  sizes,
  headers,
  auth,
  paths,
  methods,
  lists,
  changes,
  smuggling,
  connections,
}
