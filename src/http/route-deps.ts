// The parts that the routes share.

import { createBodies } from './bodies/body'
import { createByteBudget } from './byte-budget'
import type { AppDeps } from './deps'
import { createOptionsOf } from './exchange'
import { Followers } from './feed/followers'
import { createResponder } from './responses/respond'

export type RouteDeps = ReturnType<typeof createRouteDeps>

/** Makes what the routes of one app share. */
export function createRouteDeps(appDeps: AppDeps) {
  const { maxBodyBytes, timeOut } = appDeps
  const budget = createByteBudget(maxBodyBytes)
  return {
    ...appDeps,
    budget,
    ...createResponder(budget, timeOut),
    bodies: createBodies(maxBodyBytes, budget),
    followers: new Followers({ ...appDeps, budget }),
    optionsOf: createOptionsOf(appDeps),
  }
}
