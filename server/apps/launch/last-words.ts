/**
 * What an app wrote last before its deploy failed: in the deploy's log as it stands, and in the reason in a line. The reason is read by more
 * people than the log is, so it names none of the release's secrets.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { servicePathsOf } from '../../platform/paths.ts'
import { describeError } from '../../platform/server-log.ts'
import { appendOutput } from '../../telemetry/logs/append-output.ts'
import type { AppContext } from '../context.ts'
import { deployLogPath } from '../deploys/deploy-log.ts'
import { releaseSecrets } from '../deploys/release-store.ts'
import { deployById, type StoredDeploy } from '../deploys/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'
import { outputPathOf } from './launch.ts'

const MOST_LINES = 20
const MOST_LINE_CHARS = 300
const MOST_TAIL_BYTES = 16 * 1024
const LINES_IN_REASON = 3

/** Tells the last lines of a deploy's app in the deploy's log, and gives the reason with the most telling of them. */
export function reasonWithLastWords(context: AppContext, { deployId, reason }: { deployId: string; reason: string }): string {
  try {
    const deploy = deployById(context.db, deployId)
    if (deploy === undefined || deploy.releaseId === null) return reason
    const lines = linesOf(context, deploy)
    if (lines.length === 0) return reason
    appendOutput(
      deployLogPath(context, deploy),
      `==> The last lines of the app:\n${lines.map((line) => `    ${clipped(line)}\n`).join('')}`,
    )
    return `${reason}${saidLast(context, deploy.releaseId, lines)}`
  } catch (error) {
    // The end of the deploy must not wait for its words: the disk may be full.
    context.log.error('last words not told', { deployId, ...describeError(error) })
    return reason
  }
}

/** The reason with the most telling of the lines that a command has just written into the log of its deploy. */
export function reasonWithLogged(context: AppContext, deploy: StoredDeploy, reason: string): string {
  try {
    const since = tailOf(deployLogPath(context, deploy)).split(OWN_LINE).at(-1) ?? ''
    return deploy.releaseId === null ? reason : `${reason}${saidLast(context, deploy.releaseId, wordsIn(since))}`
  } catch (error) {
    context.log.error('last words not told', { deployId: deploy.id, ...describeError(error) })
    return reason
  }
}

function saidLast(context: AppContext, releaseId: string, lines: readonly string[]): string {
  const { envVars, secretFiles } = releaseSecrets(context, releaseId)
  const secrets = [...envVars.map(({ value }) => value), ...secretFiles.map(({ content }) => content)]
  return lines.length === 0 ? '' : ` It last said: ${clipped(withoutSecrets(tellingOf(lines), secrets))}`
}

/** Lines of the instance that died most often, as it has something to tell. */
function linesOf({ db, paths }: AppContext, { id, serviceId }: { id: string; serviceId: string }): string[] {
  const own = instancesOf(db, serviceId).filter(({ deployId }) => deployId === id)
  const [chosen] = own.toSorted((a, b) => b.exits.length - a.exits.length)
  return chosen === undefined ? [] : wordsIn(tailOf(outputPathOf(servicePathsOf(paths, serviceId), chosen.id)))
}

/** The last lines of the last run in an output, without empty ones, what the platform wrote in between, and what would move a terminal's cursor. */
export function wordsIn(text: string): string[] {
  const runs = text.split(BETWEEN_RUNS).filter((run) => run.trim() !== '')
  const lines = (runs.at(-1) ?? '').split('\n').map((line) => line.replace(SEQUENCES, '').replace(CONTROLS, ' ').trimEnd())
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('==> ')).slice(-MOST_LINES)
}

/** The remark that the owner of an instance writes between two runs. */
const BETWEEN_RUNS = /^==> .*Next start in [\d.]+ s\.$/m

/** A remark of the platform, which `writeDeployLog` writes. */
const OWN_LINE = /^==> .*$/m

const clipped = (line: string): string => (line.length > MOST_LINE_CHARS ? `${line.slice(0, MOST_LINE_CHARS)}…` : line)

const startsSequence = '\\u001b'
const SEQUENCES = new RegExp(`${startsSequence}\\[[0-?]*[ -/]*[@-~]`, 'g')
const unseen = '\\u0000-\\u001f\\u007f-\\u009f'
const CONTROLS = new RegExp(`[${unseen}]+`, 'g')

const TELLING = /error|exception|fatal|fail|panic|cannot|can't|denied|refused|not found|no such|missing|invalid|already in use/i
const IN_A_STACK = /^\s+at |^\s*File "|^\s*goroutine /

/** From the line on that most likely says what went wrong; stack traces say where. */
export function tellingOf(lines: readonly string[]): string {
  const plain = lines.filter((line) => !IN_A_STACK.test(line))
  const at = plain.findLastIndex((line) => TELLING.test(line))
  const from = at === -1 ? plain.slice(-LINES_IN_REASON) : plain.slice(at, at + LINES_IN_REASON)
  return from.map((line) => line.trim()).join(' | ')
}

const SHORTEST_SECRET = 6

/** A line may hold a part of a secret of several lines. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const parts = secrets.flatMap((secret) => [secret, ...secret.split('\n')]).map((part) => part.trim())
  const long = [...new Set(parts)].filter(({ length }) => length >= SHORTEST_SECRET).toSorted((a, b) => b.length - a.length)
  return long.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text)
}

function tailOf(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = fstatSync(descriptor)
    const from = Math.max(0, size - MOST_TAIL_BYTES)
    const buffer = Buffer.alloc(Math.min(size, MOST_TAIL_BYTES))
    const length = readSync(descriptor, buffer, 0, buffer.length, from)
    const text = buffer.toString('utf8', 0, length)
    if (from === 0) return text
    // A line of which only the end is there may hold the end of a secret.
    return text.includes('\n') ? text.slice(text.indexOf('\n') + 1) : ''
  } finally {
    closeSync(descriptor)
  }
}
