/** More people read the reason than the log, so it names none of the release's secrets. */
import { describeError } from '../../platform/server-log.ts'
import { MAX_LINE_BYTES } from '../../telemetry/logs/collector.ts'
import type { LogLine } from '../../telemetry/logs/line.ts'
import { isLeftOut } from '../../telemetry/logs/tail.ts'
import type { AppContext } from '../context.ts'
import { newestOfDeployLog, writeDeployLog } from '../deploys/deploy-log.ts'
import { releaseSecrets } from '../deploys/release-store.ts'
import { deployById, type StoredDeploy } from '../deploys/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'
import { appOutputOf } from '../workloads/output.ts'

const MOST_LINES = 20
const MOST_LINE_CHARS = 300
/** Blank lines and remarks are among those that are read. */
const LINES_READ = 5 * MOST_LINES
const LINES_IN_REASON = 3

/** Tells the last lines of a deploy's app in the deploy's log, and gives the reason with the most telling of them. */
export async function reasonWithLastWords(
  context: AppContext,
  { deployId, reason }: { deployId: string; reason: string },
): Promise<string> {
  try {
    const deploy = deployById(context.db, deployId)
    if (deploy === undefined || deploy.releaseId === null) return reason
    const lines = wordsIn(lastRunIn(await linesOf(context, deploy)))
    if (lines.length === 0) return reason
    writeDeployLog(context, deploy, ['The last lines of the app:', ...lines.map((line) => `    ${clipped(line)}`)].join('\n'))
    return `${reason}${saidLast(context, deploy.releaseId, lines)}`
  } catch (error) {
    // The end of the deploy must not wait for its words.
    context.log.error('last words not told', { deployId, ...describeError(error) })
    return reason
  }
}

export async function reasonWithLogged(context: AppContext, deploy: StoredDeploy, reason: string): Promise<string> {
  try {
    const lines = wholeLines(await newestOfDeployLog(context, deploy, LINES_READ))
    const said = wordsIn(lines.slice(lines.findLastIndex(isRemark) + 1))
    return deploy.releaseId === null ? reason : `${reason}${saidLast(context, deploy.releaseId, said)}`
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
async function linesOf({ db, outputLogs }: AppContext, { id, serviceId }: { id: string; serviceId: string }): Promise<LogLine[]> {
  const own = instancesOf(db, serviceId).filter(({ deployId }) => deployId === id)
  const [chosen] = own.toSorted((a, b) => b.exits.length - a.exits.length)
  return chosen === undefined ? [] : wholeLines(await outputLogs.newestLines(appOutputOf(chosen), LINES_READ))
}

type Line = Pick<LogLine, 'type' | 'message'>

const isRemark = ({ type }: Line): boolean => type === 'platform'

/** A line of which only the end is there may hold the end of a secret. The first one may follow anything, and a remark may stand within one. */
export const wholeLines = <T extends Line>(lines: readonly T[]): T[] =>
  lines.filter((line, index) => {
    const before = lines.slice(0, index).findLast((one) => !isRemark(one))
    if (isRemark(line)) return true
    return before === undefined ? lines.length < LINES_READ : !(isPiece(before) || isLeftOut(before.message))
  })

const LONGEST_CHARACTER_BYTES = 4

const isPiece = ({ message }: Line): boolean => Buffer.byteLength(message) > MAX_LINE_BYTES - LONGEST_CHARACTER_BYTES

/** What an app wrote in the last run in which it said something. Remarks of the platform stand between two runs. */
export function lastRunIn<T extends Line>(lines: readonly T[]): T[] {
  const end = lines.findLastIndex((line) => !isRemark(line) && line.message.trim() !== '') + 1
  return lines.slice(lines.slice(0, end).findLastIndex(isRemark) + 1, end)
}

/** The last of these lines, without empty ones and what would move a terminal's cursor. */
export function wordsIn(lines: readonly Line[]): string[] {
  const plain = lines.map(({ message }) => message.replace(SEQUENCES, '').replace(CONTROLS, ' ').trimEnd())
  return plain.filter((line) => line.trim() !== '').slice(-MOST_LINES)
}

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
