import type { ApiContext } from '../../api/context.ts'
import type { Config } from '../settings/config.ts'

/** Everything that the server's parts are given: made once in compose.ts, or with other ports in a test. */
export interface Context extends ApiContext {
  readonly config: Config
}

export type Work = Context['work']

/** Parts of the context that compose.ts takes as they are given to it. Telemetry is one part, as it is stopped as one. */
export interface GivenParts extends Partial<Omit<Context, 'config' | 'version' | 'paths' | 'log' | 'traffic' | 'metrics'>> {
  telemetry?: RunningTelemetry
}

export interface RunningTelemetry extends Pick<Context, 'traffic' | 'metrics'> {
  stop(): Promise<void>
}
