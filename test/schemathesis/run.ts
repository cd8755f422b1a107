import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'

const PROGRAM = resolve('node_modules/.cache/schemathesis-4.32.5/bin/schemathesis')
const HOOKS = join(import.meta.dirname, 'hooks.py')

export interface Examination {
  url: string
  /** Sent with each request; nobody asks without it. */
  token?: string
  seed: number
  /** Requests for each operation in the phase that makes them up at random. */
  examplesPerOperation: number
  phases: readonly ('examples' | 'coverage' | 'fuzzing' | 'stateful')[]
  /** Without what breaks the schemas, which is most of it. */
  isPositiveOnly?: boolean
  /** All operations are asked when it is left out. */
  operations?: readonly OperationId[]
  timeoutMs: number
}

export interface Findings {
  requests: number
  operations: number
  /** Each as Schemathesis tells it, with the request that shows it; none is what is wanted. */
  failures: string[]
}

interface Report {
  complete: boolean
  operations: { selected: number }
  test_cases: { generated: number }
  failures: { code: string; title: string; operations: string[] }[]
  errors: unknown[]
}

/**
 * Asks everything of the OpenAPI document of a running server, with all checks of Schemathesis.
 *
 * @throws Error when the program is not there or has broken off.
 */
export async function examine(examination: Examination): Promise<Findings> {
  if (!existsSync(PROGRAM)) throw new Error('Schemathesis is not installed: run `bun .scripts/test-tools.ts`, or `npm test` as a whole.')
  const folder = mkdtempSync(join(tmpdir(), 'cpd-schemathesis-'))
  try {
    writeFileSync(join(folder, 'schemathesis.toml'), settings())
    const { stdout, stderr } = await runProcess([PROGRAM, ...argumentsOf(examination, folder)], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', HOME: folder, NO_PROXY: '127.0.0.1,localhost', PYTHONHASHSEED: '0' },
      timeoutMs: examination.timeoutMs,
      maxOutputBytes: 64 * 1024 * 1024,
    })
    const file = join(folder, 'report.json')
    if (!existsSync(file)) throw new Error(`Schemathesis has broken off:\n${stdout.slice(-3000)}${stderr.slice(-3000)}`)
    return findingsOf(JSON.parse(readFileSync(file, 'utf8')) as Report, stdout)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function argumentsOf(
  { url, token, seed, examplesPerOperation, phases, isPositiveOnly, operations = [] }: Examination,
  folder: string,
): string[] {
  return [
    ...[
      '--config-file',
      join(folder, 'schemathesis.toml'),
      'run',
      `${url}/docs/json`,
      '--no-color',
      '--checks',
      'all',
      '--warnings',
      'off',
    ],
    ...['--phases', phases.join(','), '--max-examples', String(examplesPerOperation), '--seed', String(seed), '--no-shrink'],
    ...['--generation-database', 'none', '--suppress-health-check', 'all', '--max-failures', '1000', '--output-truncate', 'true'],
    ...['--report', 'json', '--report-json-path', join(folder, 'report.json')],
    ...['--mode', isPositiveOnly ? 'positive' : 'all'],
    ...(token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`]),
    ...operations.flatMap((id) => ['--include-operation-id', id]),
  ]
}

/** What may be answered to what breaks the schema. */
const refused = ['400', '401', '403', '404', '405', '409', '413', '415', '429', '431', '501', '503']

/** Rules between fields, or on what exists, that no schema tells: what fits the schema may still be refused as 400, saying why. */
function refusesMore(id: OperationId): boolean {
  const { body, webSocket, path, stream } = operationOf(id)
  const hasRules = rulesBeyondSchema.has(id) || path.startsWith('/v1/metrics/') || stream !== undefined
  return hasRules || webSocket === true || JSON.stringify(body ?? {}).includes('"x-unsupported":true')
}

const rulesBeyondSchema: ReadonlySet<OperationId> = new Set<OperationId>([
  // Either of two fields is needed; tokens and codes are only what was given out.
  'completeOAuth',
  'completeOAuthByForm',
  'redeemDeviceGrant',
  'refreshDeviceToken',
  // A disk is mounted where nothing else stands.
  'createDisk',
  'updateDisk',
  // A role is one that there is.
  'createApiKey',
  'createTeamInvite',
  'updateTeamMember',
])

/** What may be answered to what fits the schema. */
const accepted = ['2xx', '3xx', '401', '403', '404', '409', '429', '431', '501', '503']

const settings = (): string => `hooks = ${JSON.stringify(HOOKS)}

[checks]
negative_data_rejection.expected-statuses = ${JSON.stringify(refused)}
positive_data_acceptance.expected-statuses = ${JSON.stringify(accepted)}

[[operations]]
include-operation-id = ${JSON.stringify(operationIds.filter(refusesMore))}
checks.positive_data_acceptance.expected-statuses = ${JSON.stringify([...accepted, '400', '415'])}
`

function findingsOf({ complete, operations, test_cases, failures, errors }: Report, told: string): Findings {
  const details = told.includes('FAILURES') ? told.slice(told.indexOf('FAILURES')) : ''
  const broken = complete ? [] : ['It did not come to its end']
  return {
    requests: test_cases.generated,
    operations: operations.selected,
    failures: [
      ...broken,
      ...failures.map(({ code, title, operations: where }) => `${code} ${title}: ${where.join(', ')}`),
      ...errors.map((error) => JSON.stringify(error)),
      ...(failures.length > 0 || errors.length > 0 ? [details.replaceAll(/^(.{600}).*$/gm, '$1…').slice(0, 30_000)] : []),
    ],
  }
}
