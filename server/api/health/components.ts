import { statfs } from 'node:fs/promises'
import type { ApiContext } from '../context.ts'
import type { Component } from './check.ts'

/** Below this the next build or upload may well fail. */
const MIN_FREE_BYTES = 64 * 1024 * 1024

type Probed = Pick<ApiContext, 'db' | 'engine' | 'ingress' | 'paths'>

/** Without the engine or room on the disk what runs keeps running; without the ingress nothing can be reached. */
export const platformComponents = ({ db, engine, ingress, paths }: Probed): Component[] => [
  { name: 'database', without: 'down', probe: () => db.query('SELECT 1').get() },
  { name: 'ingress', without: 'down', probe: () => ingress.status() },
  { name: 'engine', without: 'degraded', probe: () => engine.list() },
  { name: 'disk', without: 'degraded', probe: () => requireRoom(paths.data, MIN_FREE_BYTES) },
]

/** @throws Error when fewer bytes are free at `folder`. */
export async function requireRoom(folder: string, minFreeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < minFreeBytes) throw new Error(`${folder} has less than ${minFreeBytes} bytes free`)
}
