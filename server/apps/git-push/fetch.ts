import { AppError } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'
import type { StoredService } from '../services/store.ts'
import { FLUSH, pktLine } from './protocol/pkt-line.ts'
import { ensureRepository } from './repository/repository.ts'
import { bytesOf, startGit } from './repository/run.ts'

export type GitService = 'git-upload-pack' | 'git-receive-pack'

const MAX_ADVERTISED_BYTES = 8 * 1024 * 1024
const LONGEST_FETCH_MS = 30 * 60_000
const versions = /^version=[012]$/

export function protocolOf({ headers }: Request, service: GitService): string | undefined {
  const asked = headers.get('git-protocol') ?? ''
  return service === 'git-upload-pack' && versions.test(asked) ? asked : undefined
}

interface Asked {
  service: StoredService
  request: Request
  signal: AbortSignal
}

export async function advertise(
  context: AppContext,
  { service, request, signal }: Asked,
  name: GitService,
): Promise<Uint8Array<ArrayBuffer>> {
  const repository = await ensureRepository(context, service, signal)
  const protocol = protocolOf(request, name)
  const call = {
    args: [name.slice('git-'.length), '--stateless-rpc', '--http-backend-info-refs', '.'],
    settings: { 'receive.hideRefs': 'refs/cpd' },
    ...(protocol !== undefined && { protocol }),
  }
  const { process, ended } = startGit(repository, call, signal)
  const [, bytes, { exitCode, complaint }] = await Promise.all([process.stdin?.end(), bytesOf(process.stdout, MAX_ADVERTISED_BYTES), ended])
  if (exitCode !== 0) throw new AppError('unavailable', `git could not read the repository: ${complaint}`)
  return new Uint8Array(Buffer.concat([pktLine(`# service=${name}\n`), FLUSH, bytes]))
}

export async function* answerFetch(context: AppContext, asked: Asked, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const abort = new AbortController()
  const signal = AbortSignal.any([abort.signal, context.stopping, AbortSignal.timeout(LONGEST_FETCH_MS)])
  const repository = await ensureRepository(context, asked.service, signal)
  const protocol = protocolOf(asked.request, 'git-upload-pack')
  const { process, ended } = startGit(
    repository,
    { args: ['upload-pack', '--stateless-rpc', '--strict', '.'], ...(protocol !== undefined && { protocol }) },
    signal,
  )
  try {
    for await (const chunk of body) {
      await process.stdin?.write(chunk)
      await process.stdin?.flush()
    }
    await process.stdin?.end()
    yield* process.stdout ?? []
  } finally {
    abort.abort()
    await ended.catch(() => {})
  }
}
