import type { ApiContext } from '../../api/context.ts'
import type { Config } from '../settings/config.ts'

/** Everything that the server's parts are given: made once in compose.ts, or with other ports in a test. */
export interface Context extends ApiContext {
  readonly config: Config
}

export type Work = Context['work']
