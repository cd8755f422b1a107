import { AppError } from '../../../../shared/error.ts'
import type { Paths } from '../../../platform/paths.ts'
import type { StoredTransfer } from '../rows/store.ts'
import { fileOf } from '../work/folders.ts'

interface Range {
  from: number
  until: number
}

/** The part that a request asks for, and undefined for all of it: a range that is none, or several, may be left alone (RFC 9110, 14.2). */
export function rangeOf(header: string | null, sizeBytes: number): Range | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return undefined
  const from = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first)
  const until = first === '' || last === '' ? sizeBytes : Math.min(sizeBytes, Number(last) + 1)
  return from < until ? { from, until } : undefined
}

/** The file of an export, or the part of it that is asked for. @throws AppError conflict while it is not complete. */
export function downloadOf(paths: Paths, transfer: StoredTransfer, headers: Headers): Response {
  const { id, status, sizeBytes, sha256, createdAt } = transfer
  if (status !== 'succeeded' || sizeBytes === null)
    throw new AppError('conflict', `The export ${id} is ${status}. It can be downloaded when it has succeeded.`)
  const file = Bun.file(fileOf(paths, transfer))
  const etag = `"${sha256}"`
  const isSame = [null, etag].includes(headers.get('if-range'))
  const range = isSame ? rangeOf(headers.get('range'), sizeBytes) : undefined
  const { from, until } = range ?? { from: 0, until: sizeBytes }
  return new Response(file.slice(from, until), {
    status: range === undefined ? 200 : 206,
    headers: {
      'Content-Type': 'application/gzip',
      'Content-Length': String(until - from),
      'Content-Disposition': `attachment; filename="${id}-${new Date(createdAt).toISOString().slice(0, 10)}.tar.gz"`,
      'Accept-Ranges': 'bytes',
      ETag: etag,
      ...(range !== undefined && { 'Content-Range': `bytes ${from}-${until - 1}/${sizeBytes}` }),
    },
  })
}
