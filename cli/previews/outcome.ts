import type { Preview } from '../../shared/preview.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import { sleep } from '../base/sleep.ts'
import { awaitDeploy } from '../deploying/outcome.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

const POLL_MS = 500

/** Follows a preview that was asked for until it is live. @throws CliError with what keeps it from being made, Interrupted on Ctrl-C. */
export async function awaitPreview(context: Context, asked: Preview, isDetached: boolean): Promise<void> {
  if (asked.status === 'awaiting_approval') {
    sayAwaiting(context, asked)
    return
  }
  if (isDetached) {
    if (context.isJson) context.printJson(asked)
    else context.print(clean`Request ${String(asked.number)} gets a preview of ${asked.commitId}.`)
    return
  }
  const { id: serviceId } = await madeService(context, asked)
  const service = await context.client.call('getService', { params: { serviceId } })
  const [newest] = await context.client.call('listDeploys', { params: { serviceId }, query: { limit: 1 } })
  if (newest !== undefined) await awaitDeploy(context, { service, deployId: newest.deploy.id, isDetached: false })
}

async function madeService(context: Context, asked: Preview): Promise<NonNullable<Preview['service']>> {
  for (;;) {
    const preview = await previewNow(context, asked)
    const { number, status, service, deployedCommitId, problem } = preview
    if (service !== undefined && deployedCommitId === preview.commitId) return service
    if (problem !== undefined) throw new CliError('conflict', problem, { hint: 'It is tried again by itself: cpctl previews list.' })
    if (status !== 'waiting')
      throw new CliError('conflict', `Request ${number} is ${status} by now.`, { hint: 'Look at it: cpctl previews list.' })
    await sleep(POLL_MS, context.io.interrupted)
    context.io.interrupted.throwIfAborted()
  }
}

async function previewNow({ client }: Context, { parentId: serviceId, number }: Preview): Promise<Preview> {
  const page = await allPages((query) => client.call('listPreviews', { params: { serviceId }, query }))
  const found = page.find(({ preview }) => preview.number === number)
  if (found === undefined) throw new CliError('not_found', `Request ${number} is closed, or no longer known.`)
  return found.preview
}

function sayAwaiting(context: Context, asked: Preview): void {
  if (context.isJson) {
    context.printJson(asked)
    return
  }
  const { number, commitId, repository } = asked
  context.print(clean`Request ${String(number)} comes from the fork ${repository}. Look at what it changes, then approve that very commit:`)
  context.print(clean`  cpctl previews approve ${String(number)} --commit ${commitId}`)
}
