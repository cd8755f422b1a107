/** Unpacking takes a hundred MiB for a moment, so it is done in a process of its own, which goes with it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { zstdDecompressSync } from 'bun'
import { extract } from 'tar-stream'

const FOLDER_MODE = 0o755
const FILE_MODE = 0o644
const PROGRAM_MODE = 0o755

/** Unpacks an archive of ours, a .tar.zst, into a folder that is not there yet. Everybody may read it, and nobody but its owner write. */
export async function unpackPrograms(archive: string, into: string): Promise<void> {
  process.umask(0o022)
  mkdirSync(into, { mode: FOLDER_MODE })
  const parser = extract()
  const flow = pipeline(Readable.from([zstdDecompressSync(readFileSync(archive))]), parser)
  flow.catch(() => {})
  for await (const entry of parser) {
    const { name, type, mode = 0 } = entry.header
    const path = join(into, name)
    if (type === 'directory') mkdirSync(path, { recursive: true, mode: FOLDER_MODE })
    else {
      mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE })
      writeFileSync(path, await buffer(entry), { mode: mode & 0o100 ? PROGRAM_MODE : FILE_MODE })
    }
    entry.resume()
  }
  await flow
}

/** In the source tree this file is a program; the executable has it as a command. */
if (import.meta.main) void unpackPrograms(process.argv.at(-2) ?? '', process.argv.at(-1) ?? '')
