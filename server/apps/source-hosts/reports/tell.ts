import { AppError } from '../../../../shared/error.ts'
import type { AppContext } from '../../context.ts'
import type { Located } from '../hosts/credential.ts'
import { pauseAfterRefusal } from '../pauses.ts'
import type { CommitReport } from '../port.ts'
import { pauseAfterError } from '../store/pauses.ts'
import { changeReport, clearProblems, putReport, type StoredReport } from '../store/reports.ts'

export interface Telling {
  report: StoredReport
  located: Located
  said: Pick<CommitReport, 'isNewest' | 'description' | 'logUrl' | 'serviceUrl'>
}

type TellContext = Pick<AppContext, 'db' | 'now' | 'stopping'>

/** Tells a host one state of a deploy, and writes down how that went. What was told and not written down is told again. */
export async function tell(context: TellContext, telling: Telling): Promise<void> {
  const { db, stopping } = context
  const { report, located } = telling
  const installationId = located.installation.id
  putReport(db, { ...report, installationId })
  try {
    const reportId = await send(telling, stopping)
    db.transaction(() => {
      changeReport(db, report.id, { told: report.wanted, reportId, attempts: 0 })
      clearProblems(db, report)
    })()
  } catch (error) {
    stopping.throwIfAborted()
    if (!(error instanceof AppError)) throw error
    postpone(context, telling, error)
  }
}

async function send({ report, located, said }: Telling, signal: AbortSignal): Promise<string | null> {
  const { host, name } = located
  // A request that changes something is not led on to where a repository has gone: its name is asked for.
  const current = report.attempts === 0 ? name : (await host.repository(name, signal)).name
  const { id: deployId, commitId: commit, wanted: state, told: before, environment, reportId } = report
  return await host.report(current, { ...said, deployId, commit, state, before, environment, reportId }, signal)
}

/** A host that is down or limits the rate is left alone for all that it is to be told. */
function postpone({ db, now }: TellContext, { report, located }: Telling, error: AppError): void {
  const attempts = report.attempts + 1
  const nextAttemptAt = now() + pauseAfterRefusal(error, attempts)
  changeReport(db, report.id, { attempts, nextAttemptAt, problem: error.message })
  pauseAfterError(db, located.installation.id, { error, now: now() })
}
