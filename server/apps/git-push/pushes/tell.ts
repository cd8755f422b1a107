/** What the client of a push sees: the log of its deploy as it is written, and at the end what became of each ref. */
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanText } from '../../../../shared/clean-text.ts'
import { traitsOf } from '../../../../shared/service-type.ts'
import { compileFilter } from '../../../telemetry/logs/filter.ts'
import type { AppContext, RefOutcome } from '../../context.ts'
import { deployById } from '../../deploys/store.ts'
import { urlOf } from '../../services/addresses.ts'
import type { StoredService } from '../../services/store.ts'
import { writeReport } from '../protocol/report.ts'
import { bands, KEEP_ALIVE, onBand } from '../protocol/side-band.ts'
import type { Accepted } from './accept.ts'

const LOOK_MS = 60
const KEEP_ALIVE_MS = 5000
const LINES_AT_ONCE = 200
/** How long the last lines of a log may take to be written after the end of their deploy. */
const LAST_LINES_MS = 3000

export interface Told {
  service: StoredService
  accepted: Accepted
  capabilities: ReadonlySet<string>
  concluded: Promise<readonly RefOutcome[]>
  fromSeq: number
}

/** The answer to a push, piece by piece as it is asked for: what the client does not take, nobody keeps. */
export async function* tellPush(
  context: AppContext,
  { service, accepted, concluded, capabilities, fromSeq }: Told,
): AsyncGenerator<Uint8Array> {
  const isBanded = capabilities.has('side-band-64k')
  const say = (text: string) => onBand(bands.progress, Buffer.from(`${cleaned(text)}\n`))
  const { push, unpackProblem } = accepted
  if (isBanded && accepted.progress !== '') yield say(accepted.progress)
  if (push?.deployId !== undefined)
    for await (const text of logOf(context, { service, deployId: push.deployId, fromSeq }))
      if (isBanded) yield text === undefined ? KEEP_ALIVE : say(text)
  const outcomes = await concluded.catch((): readonly RefOutcome[] => [])
  if (isBanded && isLive(context, push?.deployId) && traitsOf(service.type).isRouted)
    yield say(`\n${service.name} is live: ${urlOf(context, service.slug)}\n`)
  const all = [...accepted.outcomes, ...outcomes]
  yield writeReport({ ...(unpackProblem !== undefined && { unpackProblem }), outcomes: all }, capabilities)
}

const cleaned = (text: string): string =>
  text
    .split(/\r\n|[\r\n]/)
    .map(cleanText)
    .join('\n')

function isLive({ db }: AppContext, deployId: string | undefined): boolean {
  const status = deployId === undefined ? undefined : deployById(db, deployId)?.status
  return status === 'live' || status === 'deactivated'
}

interface Logged {
  service: StoredService
  deployId: string
  fromSeq: number
}

async function* logOf(context: AppContext, { service, deployId, fromSeq }: Logged): AsyncGenerator<string | undefined> {
  const test = compileFilter({ resource: [service.id], instance: [deployId], type: ['build', 'platform'] })
  let next = fromSeq
  let quietSince = performance.now()
  let endedAt: number | undefined
  while (!context.stopping.aborted) {
    const isOver = endedAt !== undefined
    const page = await context.logStore.readArrival({ test, fromSeq: next, untilSeq: context.logStore.nextSeq(), limit: LINES_AT_ONCE })
    next = page.nextSeq
    for (const { message } of page.lines) yield message
    if (page.lines.length > 0) quietSince = performance.now()
    else if (isOver) return
    else if (performance.now() - quietSince > KEEP_ALIVE_MS) {
      quietSince = performance.now()
      yield undefined
    }
    endedAt ??= await endOf(context, { service, deployId })
    if (endedAt === undefined) await sleep(LOOK_MS)
  }
}

async function endOf({ db, work }: AppContext, { service, deployId }: Omit<Logged, 'fromSeq'>): Promise<number | undefined> {
  const deploy = deployById(db, deployId)
  if (deploy !== undefined && deploy.finishedAt === null) return undefined
  await Promise.race([work.whenDeploysSettled(service.id), sleep(LAST_LINES_MS)])
  return performance.now()
}
