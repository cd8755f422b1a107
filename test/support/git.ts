import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type RunResult, runProcess } from '../../server/platform/process/spawn.ts'

const env = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

/** An ordinary git in an ordinary folder, as somebody has it who pushes. */
export interface Developer {
  folder: string
  env: Readonly<Record<string, string>>
  /** A repository with this first commit on main, and its folder. */
  begin(name: string, files: Record<string, string>, message?: string): Promise<string>
  commit(dir: string, files: Record<string, string>, message: string): Promise<string>
  run(dir: string, ...args: string[]): Promise<RunResult>
  /** Runs git with a key that stands neither in its arguments nor in a file. */
  runWith(token: string, dir: string, ...args: string[]): Promise<RunResult>
  leave(): void
}

const basic = (token: string): string => `Authorization: Basic ${Buffer.from(`git:${token}`).toString('base64')}`

export function newDeveloper(): Developer {
  const folder = mkdtempSync(join(tmpdir(), 'cpd-push-'))
  const runIn = (own: Record<string, string>, dir: string, args: string[]) =>
    runProcess(['git', ...args], { cwd: dir, env: { ...env, ...own }, timeoutMs: 110_000 })
  const developer: Developer = {
    folder,
    env,
    async begin(name, files, message = 'First') {
      const dir = join(folder, name)
      await developer.run(folder, 'init', '-q', '-b', 'main', dir)
      await developer.commit(dir, files, message)
      return dir
    },
    async commit(dir, files, message) {
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(join(dir, name)), { recursive: true })
        writeFileSync(join(dir, name), content)
      }
      await developer.run(dir, 'add', '-A')
      await developer.run(dir, 'commit', '-qm', message)
      return (await developer.run(dir, 'rev-parse', 'HEAD')).stdout.trim()
    },
    run: (dir, ...args) => runIn({}, dir, args),
    runWith: (token, dir, ...args) =>
      runIn({ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'http.extraHeader', GIT_CONFIG_VALUE_0: basic(token) }, dir, args),
    leave: () => rmSync(folder, { recursive: true, force: true }),
  }
  return developer
}

export const noObject = '0'.repeat(40)

const line = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** A push as it is sent: to point these refs to an object, with these bytes as the pack. */
export function pushBody(refs: readonly string[], to: string, pack: Uint8Array): Uint8Array<ArrayBuffer> {
  const lines = refs.map((ref, at) => line(`${noObject} ${to} ${ref}${at === 0 ? '\0 report-status' : ''}`))
  return new Uint8Array(Buffer.concat([...lines, Buffer.from('0000'), pack]))
}

/** A pack of these entries, each with its head; `count` is what it claims to hold. */
export function packOf(entries: readonly Uint8Array[], count = entries.length): Buffer {
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(count, 8)
  const bytes = Buffer.concat([head, ...entries])
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()])
}

export const objectTypes = { commit: 1, tree: 2, blob: 3, refDelta: 7 } as const

/** The head of an object in a pack (gitformat-pack(5)): its type, and how many bytes it says to have once unpacked. */
export function entryHead(type: number, size: number): Buffer {
  const bytes: number[] = []
  let rest = Math.floor(size / 16)
  let next = (type << 4) | (size % 16)
  while (rest > 0) {
    bytes.push(next | 0x80)
    next = rest % 128
    rest = Math.floor(rest / 128)
  }
  return Buffer.from([...bytes, next])
}

export const idOf = (kind: string, content: Uint8Array): string =>
  createHash('sha1').update(`${kind} ${content.length}\0`).update(content).digest('hex')
