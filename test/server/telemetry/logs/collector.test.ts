import { Database } from 'bun:sqlite'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { type Collector, type CollectorOptions, createCollector } from '../../../../server/telemetry/logs/collector.ts'
import { compileFilter } from '../../../../server/telemetry/logs/filter.ts'
import type { LogLine } from '../../../../server/telemetry/logs/line.ts'
import { openLogStore } from '../../../../server/telemetry/logs/store.ts'
import { type Fixture, type FollowedFile, followedFile, makeStore, randomFrom, until } from './fixture.ts'

let fixture: Fixture
let path: string
const collectors: Collector[] = []
const live: LogLine[] = []

beforeEach(() => {
  fixture = makeStore()
  path = join(fixture.dir, 'out')
  live.length = 0
  fixture.store.listen((lines) => live.push(...lines))
})
afterEach(async () => {
  for (const collector of collectors.splice(0)) await collector.stop()
  fixture.remove()
})

function collect(options: Partial<CollectorOptions> = {}): Collector {
  const collector = createCollector({ store: fixture.store, pollMs: 2, ...options })
  collectors.push(collector)
  return collector
}

const output = (over: Partial<FollowedFile> = {}) => followedFile({ path, ...over })
const messages = () => live.map((line) => line.message)

function copyDatabase(from: string, to: string): void {
  const db = new Database(from, { readonly: true, strict: true })
  db.query('VACUUM INTO $to').run({ to })
  db.close()
}

async function storedMessages(store = fixture.store): Promise<string[]> {
  const test = compileFilter({ resource: 'any' })
  const found: string[] = []
  for (let fromSeq = 0; fromSeq < store.nextSeq(); ) {
    const page = await store.readArrival({ test, fromSeq, untilSeq: store.nextSeq(), limit: 5000 })
    found.push(...page.lines.map((line) => line.message))
    fromSeq = page.nextSeq
  }
  return found
}

describe('a database that is put back', () => {
  test('finds all lines that a collector has stored since, where that one keeps its sources', async () => {
    collect({ pollMs: 10_000 }).follow(output())
    appendFileSync(path, 'one\n')
    await collectors[0]?.flush(path)
    const before = join(fixture.dir, 'before.db')
    copyDatabase(fixture.path, before)
    const newer = collect({ pollMs: 10_000, keepsSources: true })
    newer.follow(output())
    appendFileSync(path, 'two\nthree\n')
    await newer.flush(path)
    const store = openLogStore(before)
    const older = collect({ pollMs: 10_000, store })
    older.follow(output())
    appendFileSync(path, 'four\n')
    await older.flush(path)
    expect(await storedMessages(store)).toEqual(['one', 'two', 'three', 'four'])
    store.close()
  })
})

describe('following', () => {
  test('stores finished lines as they are written, also of a file that does not exist yet', async () => {
    collect().follow(output({ deployId: 'dep-1' }))
    await Bun.sleep(10)
    appendFileSync(path, 'one\ntwo\r\nthr')
    await until(() => live.length === 2)
    appendFileSync(path, 'ee\n')
    await until(() => live.length === 3)
    expect(messages()).toEqual(['one', 'two', 'three'])
    expect(live[0]).toMatchObject({ resource: 'srv-a', instance: 'srv-a-1', deployId: 'dep-1', type: 'app', level: 'info' })
  })

  test('unfollow with drain stores everything, an unterminated last line included', async () => {
    const collector = collect({ pollMs: 10_000 })
    collector.follow(output())
    appendFileSync(path, `${'line\n'.repeat(100_000)}no newline`)
    await collector.unfollow(path, { drain: true })
    expect(live).toHaveLength(100_001)
    expect(live.at(-1)?.message).toBe('no newline')
  })

  test('flush stores what is finished and leaves the rest for later', async () => {
    const collector = collect({ pollMs: 10_000 })
    collector.follow(output())
    appendFileSync(path, 'done\nunfin')
    await collector.flush(path)
    expect(messages()).toEqual(['done'])
    appendFileSync(path, 'ished\n')
    await collector.flush(path)
    expect(messages()).toEqual(['done', 'unfinished'])
  })

  test('a line longer than the bound is cut into pieces that lose no byte', async () => {
    const collector = collect()
    collector.follow(output())
    const giant = 'ä€🦊x'.repeat(100_000)
    appendFileSync(path, `${giant}\nafter\n`)
    await until(() => messages().includes('after'))
    const pieces = messages().slice(0, -1)
    expect(pieces.join('')).toBe(giant)
    expect(Math.max(...pieces.map((piece) => Buffer.byteLength(piece)))).toBeLessThanOrEqual(64 * 1024)
  })

  test('characters written half by half arrive whole', async () => {
    const collector = collect()
    collector.follow(output())
    for (const byte of Buffer.from('żółw 🦊\n日本\n')) {
      appendFileSync(path, new Uint8Array([byte]))
      await collector.flush(path)
    }
    expect(messages()).toEqual(['żółw 🦊', '日本'])
  })

  test('binary output becomes lines that can be stored, searched and sent', async () => {
    const random = randomFrom(5)
    const bytes = Uint8Array.from({ length: 300_000 }, () => random(256))
    writeFileSync(path, bytes)
    const collector = collect({ pollMs: 10_000 })
    collector.follow(output())
    await collector.unfollow(path, { drain: true })
    expect(await storedMessages()).toEqual(messages())
    expect(messages().some((message) => message.includes('\0') || !message.isWellFormed())).toBe(false)
    expect(live).toHaveLength(Buffer.from(bytes).toString('latin1').replace(/\n$/, '').split('\n').length)
  })

  test('a file replaced by another is read from its start, a truncated one too', async () => {
    collect().follow(output())
    appendFileSync(path, 'first file, a long line\n')
    await until(() => live.length === 1)
    renameSync(path, `${path}.old`)
    appendFileSync(path, 'second\n')
    await until(() => live.length === 2)
    truncateSync(path, 0)
    await Bun.sleep(30)
    appendFileSync(path, 'x\n')
    await until(() => live.length === 3)
    expect(messages()).toEqual(['first file, a long line', 'second', 'x'])
  })

  test('a file that cannot be read does not keep the others waiting', async () => {
    const errors: unknown[] = []
    const link = join(fixture.dir, 'link')
    writeFileSync(join(fixture.dir, 'secret'), 'not for the log\n')
    symlinkSync(join(fixture.dir, 'secret'), link)
    const collector = collect({ onError: (error) => errors.push(error) })
    collector.follow(output({ path: link }))
    collector.follow(output())
    appendFileSync(path, 'fine\n')
    await until(() => live.length === 1 && errors.length > 0)
    expect(messages()).toEqual(['fine'])
  })

  test('a source that does not answer keeps no collector from stopping', async () => {
    const asked = Promise.withResolvers<void>()
    const read = () => {
      asked.resolve()
      return new Promise<never>(() => {})
    }
    const collector = collect()
    collector.follow({ ...output(), source: { hasNew: () => true, read, release: async (cursor) => cursor, remove: async () => {} } })
    await asked.promise
    await collector.stop()
  })

  test('lines that could not be stored are stored later', async () => {
    const errors: unknown[] = []
    let isFull = true
    const store = {
      ...fixture.store,
      append: (...args: Parameters<typeof fixture.store.append>) => {
        if (isFull) throw new Error('database or disk is full')
        return fixture.store.append(...args)
      },
    }
    collect({ store, onError: (error) => errors.push(error) }).follow(output())
    appendFileSync(path, 'precious\n')
    await until(() => errors.length > 0)
    isFull = false
    await until(() => live.length === 1)
    expect(messages()).toEqual(['precious'])
  })

  test('output far ahead of what can be stored is skipped, and a line says how much', async () => {
    const line = `${'y'.repeat(99)}\n`
    writeFileSync(path, line.repeat(100_000))
    const collector = collect({ maxUnreadBytes: 1_000_000, pollMs: 10_000 })
    collector.follow(output())
    await collector.flush(path)
    const [notice, ...rest] = messages()
    const skippedBytes = Number(/(\d+) bytes/.exec(notice ?? '')?.[1])
    expect(skippedBytes).toBeGreaterThan(9_000_000)
    expect(skippedBytes + rest.length * 100).toBe(10_000_000)
    expect(rest.every((message) => message.length === 99)).toBe(true)
  })

  test('the space of stored output is given back while the writer goes on', async () => {
    writeFileSync(path, `${'w'.repeat(9999)}\n`.repeat(4000))
    const collector = collect({ pollMs: 10_000 })
    collector.follow(output())
    await collector.flush(path)
    expect(statSync(path).size).toBe(40_000_000)
    expect(statSync(path).blocks * 512).toBeLessThan(20_000_000)
    appendFileSync(path, 'still here\n')
    await collector.flush(path)
    expect(messages().at(-1)).toBe('still here')
  })

  test('a file of which no part can be given back is emptied when it is stored, and goes on', async () => {
    writeFileSync(path, `${'w'.repeat(9999)}\n`.repeat(4000))
    const collector = collect({ pollMs: 10_000 })
    collector.follow(output({ file: { releaseSpace: () => false } }))
    await collector.flush(path)
    expect(statSync(path).size).toBeLessThan(40_000_000)
    appendFileSync(path, `${'x'.repeat(9999)}\n`.repeat(2000))
    appendFileSync(path, 'still here\n')
    await collector.flush(path)
    expect(live).toHaveLength(6001)
    expect(messages().at(-1)).toBe('still here')
  })

  test('many files are each collected whole', async () => {
    const collector = collect()
    const paths = Array.from({ length: 250 }, (_, i) => `${path}-${i}`)
    for (const [i, each] of paths.entries()) collector.follow(output({ path: each, instance: `srv-a-${i}` }))
    for (let round = 0; round < 20; round++) for (const each of paths) appendFileSync(each, `round ${round}\n`)
    await until(() => live.length === 5000)
    const wanted = Array.from({ length: 20 }, (_, round) => `round ${round}`)
    for (const [i] of paths.entries()) {
      expect(live.filter((line) => line.instance === `srv-a-${i}`).map((line) => line.message)).toEqual(wanted)
    }
  })

  test('1,000 times following and removing leaves no descriptor, file or cursor', async () => {
    const collector = collect()
    // Only those of our own files: other tests share this process.
    const descriptors = () => readdirSync('/proc/self/fd').filter((name) => linkOf(`/proc/self/fd/${name}`).startsWith(path)).length
    const before = descriptors()
    for (let i = 0; i < 1000; i++) {
      const each = `${path}-${i}`
      collector.follow(output({ path: each }))
      appendFileSync(each, 'x')
      await collector.remove(each)
      expect(fixture.store.cursor(each)).toBeUndefined()
    }
    expect(live).toHaveLength(1000)
    expect(descriptors()).toBe(before)
    expect(readdirSync(fixture.dir).filter((name) => name.startsWith('out'))).toEqual([])
  })
})

describe('being killed', () => {
  test('loses and repeats no line, however often it happens while output is written', async () => {
    const total = 200_000
    let written = 0
    const write = (count: number) => {
      let text = ''
      for (const end = Math.min(total, written + count); written < end; ) text += `line ${written++} ${'é'.repeat(written % 50)}\n`
      // Cut anywhere, also inside a character.
      const bytes = Buffer.from(text)
      const cut = Math.floor(bytes.length / 3)
      appendFileSync(path, bytes.subarray(0, cut))
      appendFileSync(path, bytes.subarray(cut))
    }
    const child = fileURLToPath(import.meta.resolve('./collect-child.ts'))
    const database = join(fixture.dir, 'killed.db')
    for (let kills = 0; kills < 8; kills++) {
      const up = `${path}.up-${kills}`
      const collector = spawnProcess([process.execPath, child, database, path, up], { stderr: 'ignore', env: { BUN_BE_BUN: '1' } })
      await until(() => existsSync(up))
      for (let i = 0; i < 25; i++) {
        write(1000)
        await Bun.sleep(4 + kills)
      }
      collector.kill('SIGKILL')
      await collector.exited
    }
    const store = openLogStore(database)
    expect(store.nextSeq()).toBeGreaterThan(1)
    const last = createCollector({ store, pollMs: 10_000 })
    last.follow(output())
    await last.unfollow(path, { drain: true })
    await last.stop()
    const found = await storedMessages(store)
    store.close()
    expect(found).toHaveLength(total)
    expect(found.findIndex((message, i) => !message.startsWith(`line ${i} `))).toBe(-1)
  })
})

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
