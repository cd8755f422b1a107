/** What makes the files of a release out of a source, told by values. Whoever asks runs its commands, under the limits of the service and as its work. */
import type { Runtime } from '../../shared/service-details.ts'
import type { ServiceType } from '../../shared/service-type.ts'
import type { Stack } from '../platform/stack.ts'
import type { Launch } from './launch.ts'

/** What people chose of how their source is built; absent where it is to be found out. */
export interface BuildSettings {
  type: ServiceType
  runtime?: Runtime
  buildCommand?: string
  startCommand?: string
  publishPath?: string
}

export interface Source {
  sha256: string
  /** Lays its files into a folder, which it makes. @throws AppError saying why it cannot be unpacked; the signal's reason when aborted. */
  unpack(into: string, signal: AbortSignal): Promise<void>
}

export interface RunnableStep {
  name: string
  command: string
  dir: string
  /** Its variables. Those that every process of a service has are added where they are missing. */
  env: Record<string, string>
  stack: Stack
  /** A build is anybody's code from anywhere: it has no business with what runs, and reaches nobody's network but the machine's at most. */
  network: 'host' | 'none'
}

export interface StepExit {
  exitCode: number | null
  signal: string | null
  timedOut?: boolean
  oomKilled?: boolean
  /** What people can do where it wants more memory, as the end of a sentence. */
  memoryRemedy?: string
  /** Absent where whoever ran it cannot tell. */
  used?: StepUsed
}

/** Processor time over all cores, and the most memory that it held at once, children included. */
export interface StepUsed {
  cpuSeconds: number
  peakMemoryBytes: number
}

export interface BuildRequest {
  owner: { id: string; number: number }
  /** Names the build. What an interrupted one of that name has left is begun anew. */
  buildId: string
  source: Source
  /** The folder of the source to build in; empty where that is to be found out. */
  rootDir: string
  settings: BuildSettings
  /** Variables for the steps. They win over the builder's own, but for PATH and the places of caches. */
  env: Record<string, string>
  /** What earlier builds of the service have left for later ones is removed first. */
  clearsCache?: true
  log(line: string): void
  runStep(step: RunnableStep): Promise<StepExit>
  signal: AbortSignal
}

export interface BuiltRelease {
  artifact: string
  launch: Launch
}

/** What a build of a source would do, and why. */
export interface PlannedBuild {
  runtime: Launch['runtime']
  packageManager?: string
  /** The folder of the source to build in; empty for its root. */
  rootDir: string
  /** The folder of the app below that, where it is a member of a workspace. */
  appDir?: string
  steps: { name: string; command: string; dir?: string }[]
  startCommand?: string
  publishPaths: string[]
  notes: string[]
}

export type PlanRequest = Pick<BuildRequest, 'source' | 'rootDir' | 'settings' | 'env' | 'signal'>

export interface Builder {
  /** Tells what a build would do. Nothing of the source is run or kept, and no toolchain is fetched. @throws AppError as `build` does for what it cannot build. */
  plan(request: PlanRequest): Promise<PlannedBuild>
  /**
   * Builds a source and keeps what came of it. Repeatable after an interruption: nothing of a build is left but its release.
   * @throws AppError saying to people what to mend: a source that cannot be built, the step that failed, no room; the signal's reason when
   * aborted.
   */
  build(request: BuildRequest): Promise<BuiltRelease>
  /** Removes what builds had fetched and nothing needs any more. */
  tidy(): Promise<void>
}
