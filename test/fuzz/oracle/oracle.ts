import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess, spawnProcess } from '../../../server/platform/process/spawn.ts'

/** A reader of other make, in a process of its own. */
export interface Oracle {
  name: string
  /** What it reads in each of these, in their order. */
  read(items: readonly OracleItem[]): Promise<string[]>
  stop(): void
}

export interface OracleItem {
  /** `q` requests, `r` the response to a GET, `H` to a HEAD, `f` HTTP/2 frames, `h` HPACK blocks. */
  kind: 'q' | 'r' | 'H' | 'f' | 'h'
  bytes: Buffer
}

const NODE_HINT = 'Node is not installed. Install it (Debian: apt-get install nodejs): its parser is compared with ours.'
const GO_HINT = 'Go is not installed. Install Go 1.24 or newer (https://go.dev/dl): its parsers are compared with ours.'

/** llhttp, in a Node. */
export function startLlhttp(): Oracle {
  return startOracle('llhttp', [programOf('node', NODE_HINT), join(import.meta.dirname, 'llhttp.mjs')])
}

/** net/http and x/net/http2/hpack, in a program that is built first. */
export async function startGo(): Promise<Oracle> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-oracle-'))
  const program = join(dir, 'oracle')
  const named = /^(PATH$|HOME$|GO|https?_proxy$|no_proxy$|SSL_CERT_)/i
  const given = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined && named.test(entry[0]))
  const built = await runProcess([programOf('go', GO_HINT), 'build', '-o', program, '.'], {
    cwd: import.meta.dirname,
    env: { HOME: dir, ...Object.fromEntries(given) },
  })
  if (built.exitCode !== 0) throw new Error(`Go could not build the program that reads beside ours: ${built.stderr}`)
  const oracle = startOracle('go', [program])
  return {
    ...oracle,
    stop: () => {
      oracle.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function programOf(name: string, hint: string): string {
  const found = Bun.which(name) ?? Bun.which(`/usr/local/go/bin/${name}`)
  if (found === null) throw new Error(hint)
  return found
}

function startOracle(name: string, argv: string[]): Oracle {
  const child = spawnProcess(argv, { stdin: 'pipe', stdout: 'pipe', env: { NODE_NO_WARNINGS: '1' } })
  const reader = child.stdout?.getReader()
  const decoder = new TextDecoder('latin1')
  return {
    name,
    async read(items) {
      const parts: Buffer[] = []
      for (const { kind, bytes } of items) {
        const header = Buffer.alloc(5)
        header.write(kind, 'latin1')
        header.writeUInt32LE(bytes.length, 1)
        parts.push(header, bytes)
      }
      child.stdin?.write(Buffer.concat(parts))
      void child.stdin?.flush()
      let text = ''
      for (let answers = 0; answers < items.length; ) {
        const part = await reader?.read()
        if (part?.value === undefined) throw new Error(`${name} ended before it had answered`)
        for (const byte of part.value) if (byte === 10) answers++
        text += decoder.decode(part.value, { stream: true })
      }
      return text.split('\n').slice(0, -1)
    },
    stop: () => child.kill('SIGKILL'),
  }
}
