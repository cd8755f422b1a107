import { readFileSync, statSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'
import { type SpawnedProcess, spawnProcess } from '../../platform/process/spawn.ts'
import type { IngressClient } from '../control/client.ts'
import type { Successor } from '../control/protocol.ts'

export interface StartProcess extends Successor {
  client: IngressClient
  inherit?: readonly number[]
}

const READY_TIMEOUT_MS = 20_000
const POLL_MS = 10

/** Starts an ingress that outlives us. @throws AppError `unavailable` with its own last words when it does not come to serve; it is gone by then. */
export async function startIngressProcess({ client, command, env, outputPath, inherit = [] }: StartProcess): Promise<void> {
  const outputFrom = statSync(outputPath, { throwIfNoEntry: false })?.size ?? 0
  const child = spawnProcess(command, { env, stdout: { appendTo: outputPath }, stderr: 'stdout', detached: true, inherit })
  child.unref()
  if (await comesToServe(client, child)) return
  child.kill('SIGKILL')
  await child.exited
  const words = readFileSync(outputPath).subarray(outputFrom).toString().trim().split('\n').at(-1)
  throw new AppError('unavailable', `The ingress did not start: ${words || `it said nothing within ${READY_TIMEOUT_MS / 1000} s`}`)
}

async function comesToServe(client: IngressClient, child: SpawnedProcess): Promise<boolean> {
  let hasExited = false
  void child.exited.then(() => {
    hasExited = true
  })
  const deadline = performance.now() + READY_TIMEOUT_MS
  while (!hasExited && performance.now() < deadline) {
    const status = await client.status().catch(() => undefined)
    if (status?.pid === child.pid) return true
    await Bun.sleep(POLL_MS)
  }
  return false
}
