import { messageOf } from '../../../shared/error.ts'
import { openBucket } from '../../apps/backups/repository/bucket.ts'
import type { Config } from '../settings/config.ts'

/** What came of writing, reading, listing and removing a file at the bucket for backups; undefined where none is set. */
export interface ToldBucket {
  name: string
  problem?: string
}

const PREFIX = 'doctor/'
const CONTENT = Buffer.from('Written by cpd doctor, which removes it again.\n')

export async function bucketHere(config: Config): Promise<ToldBucket | undefined> {
  const { CP_BACKUP_S3_ENDPOINT: endpoint, CP_BACKUP_S3_BUCKET: bucket } = config
  if (endpoint === undefined && bucket === undefined) return undefined
  const name = `${bucket ?? ''} at ${endpoint ?? ''}`
  try {
    await tryBucket(config)
    return { name }
  } catch (error) {
    return { name, problem: messageOf(error) }
  }
}

async function tryBucket(config: Config): Promise<void> {
  const bucket = openBucket(config)
  const key = PREFIX + crypto.randomUUID()
  await bucket?.putText(key, CONTENT)
  const read = bucket && Buffer.from(await new Response(await bucket.get(key)).arrayBuffer())
  if (read?.equals(CONTENT) === false) throw new Error('It gives back something else than was written there.')
  const listed = await Array.fromAsync(bucket?.list(PREFIX) ?? [])
  if (!listed.includes(key)) throw new Error('It does not list what was written there.')
  await bucket?.remove(key)
}

export const bucketLines = (bucket: ToldBucket | undefined): string[] =>
  bucket === undefined
    ? []
    : [bucket.problem === undefined ? `  yes  backups: ${bucket.name}` : `  no   backups: ${bucket.name}: ${bucket.problem}`]
