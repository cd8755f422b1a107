import { AppError } from '../../../shared/error.ts'
import type { SourceView } from './source-view.ts'

export interface PackageJson {
  name: string | undefined
  scripts: Record<string, string>
  main: string | undefined
  engines: Record<string, string>
  volta: Record<string, string>
  packageManager: string | undefined
  workspaces: string[]
  hasDependencies: boolean
  /** Names of what it depends on, to run or to be built. */
  packages: ReadonlySet<string>
}

const dependencyFields = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies', 'workspaces']

const packageFields = ['dependencies', 'devDependencies', 'optionalDependencies']

/** @throws AppError `bad_request` when the file is there but is no JSON object. */
export function readPackageJson(files: SourceView): PackageJson | undefined {
  const text = files.read('package.json')
  if (text === undefined) return undefined
  const parsed = parseJson(text)
  if (!isRecord(parsed)) throw new AppError('bad_request', 'package.json is not a JSON object: correct it and deploy again')
  return {
    name: typeof parsed.name === 'string' ? parsed.name : undefined,
    scripts: stringsOf(parsed.scripts),
    engines: stringsOf(parsed.engines),
    volta: stringsOf(parsed.volta),
    main: typeof parsed.main === 'string' ? parsed.main : undefined,
    packageManager: typeof parsed.packageManager === 'string' ? parsed.packageManager : undefined,
    workspaces: workspacesOf(parsed.workspaces),
    hasDependencies: dependencyFields.some((field) => isFilled(parsed[field])),
    packages: new Set(packageFields.flatMap((field) => Object.keys(stringsOf(parsed[field])))),
  }
}

function workspacesOf(field: unknown): string[] {
  const list = isRecord(field) ? field.packages : field
  return Array.isArray(list) ? list.filter((pattern) => typeof pattern === 'string') : []
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const stringsOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )

const isFilled = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length > 0
