import type { PackageJson } from './package-json.ts'
import type { SourceView } from './source-view.ts'

export interface FrameworkApp {
  files: SourceView
  pkg: PackageJson
  /** Its folder below the root of its workspace; empty where it is no member of one. */
  appDir: string
  /** What builds it, where that is known. */
  buildCommand: string
}

export type Outcome =
  | {
      gives: 'server'
      start: string
      env?: Record<string, string>
      /** Start scripts that it stands in the place of. */
      replaces?: RegExp
      /** Makes what was built ready to be started. */
      finish?: string
      /** How it gives files instead, where it can. */
      forSite?: string
    }
  | { gives: 'site'; publish: string[] }
  /** Neither can be started or published here. */
  | { gives: 'nothing'; reason: string }

export interface Framework {
  title: string
  /** Any of them among the packages of an app tells it. */
  packages: readonly string[]
  /** Where package.json has no script `build`. */
  build?: string
  buildEnv?: Record<string, string>
  /** Start scripts that serve whoever develops it. One that previews what was built is its owner's choice. */
  unfitStart?: RegExp
  /** Programs of its apps may stand beside it, which are then what is started. */
  hasServersBeside?: true
  outcome: (app: FrameworkApp) => Outcome
}

export const ALL_ADDRESSES = { HOST: '0.0.0.0' }

export const ONLY_DEV_VITE = /^vite(?! preview\b)/

export const dependsOn = ({ pkg }: FrameworkApp, ...names: readonly string[]): boolean => names.some((name) => pkg.packages.has(name))

export const giving =
  (outcome: Outcome): Framework['outcome'] =>
  () =>
    outcome

/** The text of a configuration file without the lines that are comments: what stands there in words is looked for, as nothing of it is run. */
export function configOf({ files }: FrameworkApp, name: string): string {
  const text = ['ts', 'js', 'mjs', 'cjs', 'mts'].map((extension) => files.read(`${name}.${extension}`)).find((found) => found !== undefined)
  const lines = text?.split('\n') ?? []
  return lines.filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line)).join('\n')
}
