import { chmodSync, renameSync, rmSync } from 'node:fs'
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError, errorStatus } from '../../../shared/error.ts'
import {
  AdoptRequest,
  BackUpRequest,
  DescribedRequest,
  type DescribedSet,
  EndStraysRequest,
  type ListedStray,
  type ServeStatus,
  servePaths,
  UpgradeRequest,
} from './operations.ts'

export interface ControlledServe {
  status(): ServeStatus
  backUp(folder: string): void
  upgrade(request: UpgradeRequest): void
  strays(): ListedStray[]
  endStrays(ids: readonly string[]): Promise<ListedStray[]>
  describedBackups(key: string): Promise<DescribedSet[]>
  adoptBackups(request: AdoptRequest): Promise<DescribedSet[]>
}

const OWNER_ONLY = 0o600

/** Serves the socket for the commands of this machine. It gets its name when only our own user may connect to it. */
export function serveCommands(socketPath: string, serve: ControlledServe): { stop(): Promise<void> } {
  const unnamedPath = `${socketPath}.new`
  rmSync(unnamedPath, { force: true })
  const server = Bun.serve({
    unix: unnamedPath,
    fetch: (request, bun) => {
      // Work may take longer than the 10 s after which Bun gives up on a silent connection.
      bun.timeout(request, 0)
      return answer(serve, request)
    },
    error: (error) => new Response(error.message, { status: error instanceof AppError ? errorStatus[error.code] : 500 }),
  })
  chmodSync(unnamedPath, OWNER_ONLY)
  renameSync(unnamedPath, socketPath)
  return {
    stop: () => {
      rmSync(socketPath, { force: true })
      return server.stop()
    },
  }
}

async function answer(serve: ControlledServe, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  switch (`${request.method} ${pathname}`) {
    case `GET ${servePaths.status}`:
      return Response.json(serve.status())
    case `POST ${servePaths.backUp}`:
      serve.backUp(bodyOf(BackUpRequest, await request.json()).folder)
      return new Response(null, { status: 204 })
    case `POST ${servePaths.upgrade}`:
      serve.upgrade(bodyOf(UpgradeRequest, await request.json()))
      return new Response(null, { status: 202 })
    case `GET ${servePaths.strays}`:
      return Response.json(serve.strays())
    case `POST ${servePaths.endStrays}`:
      return Response.json(await serve.endStrays(bodyOf(EndStraysRequest, await request.json()).ids))
    case `POST ${servePaths.described}`:
      return Response.json(await serve.describedBackups(bodyOf(DescribedRequest, await request.json()).key))
    case `POST ${servePaths.adopt}`:
      return Response.json(await serve.adoptBackups(bodyOf(AdoptRequest, await request.json())))
    default:
      throw new AppError('not_found', `The control plane has no operation ${request.method} ${pathname}`)
  }
}

function bodyOf<T extends TSchema>(schema: T, value: unknown): Static<T> {
  if (Value.Check(schema, value)) return value
  throw new AppError('bad_request', 'The body has another shape.')
}
