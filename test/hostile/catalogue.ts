import { auth } from './auth'
import { bodies } from './bodies'
import type { Case } from './case'
import { changes } from './changes'
import { connections } from './connections'
import { headers } from './headers'
import { lists } from './lists'
import { methods } from './methods'
import { paths } from './paths'
import { sizes } from './sizes'
import { smuggling } from './smuggling'

/** Every case, by its theme. */
export const catalogue: Readonly<Record<string, readonly Case[]>> = {
  bodies,
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
