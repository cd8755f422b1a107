import { S3Client } from 'bun'
import { AppError, messageOf } from '../../../../shared/error.ts'
import type { BackupSettings } from '../settings.ts'

export interface Bucket {
  /** Copies a file there. A second copy of it takes the place of the first. */
  put(key: string, path: string, bytes: number): Promise<void>
  putText(key: string, content: Uint8Array): Promise<void>
  get(key: string): Promise<ReadableStream<Uint8Array>>
  size(key: string): Promise<number | undefined>
  remove(key: string): Promise<void>
  list(beginning: string): AsyncGenerator<string>
}

/** Multipart above this: the least that S3 takes for a part is 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024
/** A connection slower than this is taken for one that hangs. */
const LEAST_BYTES_PER_MS = 32
const LEAST_MS = 60_000

/** The bucket of the settings; undefined where none is set. @throws AppError bad_request naming what lacks. */
export function openBucket(config: BackupSettings): Bucket | undefined {
  const { CP_BACKUP_S3_ENDPOINT: endpoint, CP_BACKUP_S3_REGION: region, CP_BACKUP_S3_PREFIX: prefix } = config
  const { CP_BACKUP_S3_BUCKET: bucket, CP_BACKUP_S3_ACCESS_KEY: accessKeyId, CP_BACKUP_S3_SECRET_KEY: secretAccessKey } = config
  if (endpoint === undefined && bucket === undefined) return undefined
  const lacking = Object.entries({ ENDPOINT: endpoint, BUCKET: bucket, ACCESS_KEY: accessKeyId, SECRET_KEY: secretAccessKey })
    .filter(([, value]) => value === undefined)
    .map(([name]) => `CP_BACKUP_S3_${name}`)
  if (endpoint === undefined || bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    throw new AppError('bad_request', `Backups can be copied to a bucket only with ${lacking.join(' and ')} too`)
  return bucketOf(new S3Client({ endpoint, region, bucket, accessKeyId, secretAccessKey }), prefix)
}

function bucketOf(client: S3Client, prefix: string): Bucket {
  const said = <T>(what: string, work: Promise<T>, bytes = 0): Promise<T> =>
    withinTime(work, LEAST_MS + bytes / LEAST_BYTES_PER_MS).catch((cause) => {
      throw new AppError('unavailable', `The bucket for backups did not ${what}: ${messageOf(cause)}`, { cause })
    })
  return {
    async put(key, path, bytes) {
      const whole = bytes <= PART_BYTES ? client.write(prefix + key, Bun.file(path)).then(() => {}) : inParts(client, prefix + key, path)
      await said('take a file', whole, bytes)
    },
    putText: (key, content) =>
      said(
        'take a file',
        client.write(prefix + key, content).then(() => {}),
      ),
    get: async (key) => {
      const size = await said('answer', sizeOf(client, prefix + key))
      if (size === undefined) throw new AppError('not_found', `The bucket for backups does not have ${prefix}${key}`)
      return client.file(prefix + key).stream() as ReadableStream<Uint8Array>
    },
    size: (key) => said('answer', sizeOf(client, prefix + key)),
    remove: (key) => said('remove a file', client.delete(prefix + key)),
    async *list(beginning) {
      let startAfter = ''
      for (let more = true; more; ) {
        const after = startAfter === '' ? {} : { startAfter }
        const { contents = [], isTruncated } = await said('list its files', client.list({ prefix: prefix + beginning, ...after }))
        for (const { key } of contents) yield key.slice(prefix.length)
        startAfter = contents.at(-1)?.key ?? ''
        more = isTruncated === true && contents.length > 0
      }
    },
  }
}

async function sizeOf(client: S3Client, key: string): Promise<number | undefined> {
  try {
    return (await client.stat(key)).size
  } catch (error) {
    if (
      error instanceof Error &&
      'code' in error &&
      (error.code === 'NoSuchKey' || (error.code === 'UnknownError' && !(await client.exists(key))))
    )
      return undefined
    throw error
  }
}

async function inParts(client: S3Client, key: string, path: string): Promise<void> {
  const writer = client.file(key).writer({ partSize: PART_BYTES, queueSize: 1, retry: 3 })
  try {
    let held = 0
    for await (const chunk of Bun.file(path).stream()) {
      writer.write(chunk)
      held += chunk.length
      if (held < PART_BYTES) continue
      await writer.flush()
      held = 0
    }
    await writer.end()
  } catch (error) {
    await Promise.resolve(writer.end(error instanceof Error ? error : undefined)).catch(() => {})
    throw error
  }
}

async function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`it took longer than ${Math.round(ms / 1000)} s`)), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
