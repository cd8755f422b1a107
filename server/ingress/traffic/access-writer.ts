import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { accessFilePath, accessFiles, excessFiles, isFinished, requestsByService, thisWriter } from './access-files.ts'
import { leftOutRecord } from './access-record.ts'

export interface AccessFileLimits {
  fileBytes: number
  totalBytes: number
}

const MIB = 1024 * 1024

export const defaultAccessFileLimits: AccessFileLimits = { fileBytes: 8 * MIB, totalBytes: 128 * MIB }

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/** Appends to one file after the other. Calls must not overlap. */
export class AccessWriter {
  readonly #dir: string
  readonly #limits: AccessFileLimits
  readonly #writer = thisWriter()
  #number = 0
  #handle: FileHandle | undefined
  #writtenBytes = 0
  #isBroken = false

  constructor(dir: string, limits: AccessFileLimits) {
    this.#dir = dir
    this.#limits = limits
  }

  /** Everything is handed to the file system when this resolves. @throws when it cannot be; part of it may then be written. */
  async append(bytes: Buffer): Promise<void> {
    const handle = this.#handle ?? (await this.#begin())
    if (this.#isBroken) await this.#write(handle, Buffer.from('\n'))
    this.#isBroken = true
    await this.#write(handle, bytes)
    this.#isBroken = false
    if (this.#writtenBytes >= this.#limits.fileBytes) await this.close()
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    this.#isBroken = false
    await handle?.close()
  }

  async #begin(): Promise<FileHandle> {
    await mkdir(this.#dir, { recursive: true, mode: FOLDER_MODE })
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL
    const handle = await open(accessFilePath(this.#dir, this.#writer, ++this.#number), flags, FILE_MODE)
    this.#handle = handle
    this.#writtenBytes = 0
    await this.#dropOldest(handle)
    return handle
  }

  /** What is lost is told before it is removed: whoever is killed in between tells of it twice rather than never. */
  async #dropOldest(handle: FileHandle): Promise<void> {
    const files = await accessFiles(this.#dir)
    for (const file of await excessFiles(files, this.#limits.totalBytes)) {
      // A predecessor may still be writing to the file.
      if (!isFinished(file, files)) continue
      const { path } = file
      const counts = await requestsByService(path).catch(() => new Map<string, number>())
      const published = [...counts].map(([serviceId, leftOut]) => leftOutRecord({ at: Date.now(), serviceId, leftOut })).join('')
      await this.#write(handle, Buffer.from(published))
      await rm(path, { force: true })
    }
  }

  async #write(handle: FileHandle, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, at, bytes.length - at)
      at += bytesWritten
      this.#writtenBytes += bytesWritten
    }
  }
}
