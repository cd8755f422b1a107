import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { FairScheduler } from '../../server/ingress/static/scheduler.ts'
import { connectHttp2, type Fields, get } from '../server/ingress/http2/h2-client.ts'
import { startHttp2World } from '../server/ingress/http2/h2-world.ts'
import { until } from '../support/until.ts'

const FILES = 60
const FILE_BYTES = 512 * 1024

test('S28: of sixty files asked for at once few are compressed, the others go out as they are, and each is compressed in time', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cpd-s28-'))
  const world = startHttp2World()
  try {
    mkdirSync(root, { recursive: true })
    const contents = Array.from({ length: FILES }, () =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
        .toString('hex')
        .repeat(4),
    )
    contents.forEach((text, index) => void writeFileSync(join(root, `${index}.css`), text))
    world.publish({ 'a.test': { kind: 'static', serviceId: 'srv-s', name: 'site', releaseId: 'rel-1', root, headers: [], rules: [] } })
    const client = await connectHttp2(world.port)
    const ask = (streamId: number, index: number) => {
      const fields: Fields = [...get.slice(0, 3), [':path', `/${index}.css`], ['accept-encoding', 'br']]
      client.request(streamId, fields)
    }
    const answer = async (streamId: number): Promise<{ coding: string | undefined; text: string }> => {
      const [head, body] = [await client.head(streamId), await client.body(streamId)]
      const coding = head['content-encoding']
      return { coding, text: (coding === 'br' ? brotliDecompressSync(body) : body).toString() }
    }
    for (let index = 0; index < FILES; index++) ask(2 * index + 1, index)
    const answers = await Promise.all(contents.map((_, index) => answer(2 * index + 1)))
    expect(answers.every(({ text }, index) => text === contents[index])).toBe(true)
    expect(contents[0]).toHaveLength(FILE_BYTES)
    const plain = answers.flatMap(({ coding }, index) => (coding === undefined ? [index] : []))
    expect(plain.length).toBeGreaterThan(0)
    let streamId = 2 * FILES + 1
    await until('one of them is compressed, too', async () => {
      ask(streamId, plain[0] ?? 0)
      streamId += 2
      return (await answer(streamId - 2)).coding === 'br'
    })
    client.kill()
  } finally {
    world.close()
    rmSync(root, { recursive: true, force: true })
  }
})

test('S28: work runs so much at a time, owners take turns, and what there is no room for is refused', async () => {
  const turns = new FairScheduler({ running: 1, waitingPerOwner: 3, waiting: 4 })
  const done: string[] = []
  const gate = Promise.withResolvers<void>()
  let running = 0
  const run = (owner: string, name: string) =>
    turns.run(owner, async () => {
      expect(++running).toBe(1)
      await gate.promise
      done.push(name)
      running--
    })
  const first = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name))
  expect(run('a', 'a5')).toBeUndefined()
  const other = run('b', 'b1')
  expect(run('c', 'c1')).toBeUndefined()
  gate.resolve()
  await Promise.all([...first, other])
  expect(done).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  await run('c', 'c1')
  expect(done.at(-1)).toBe('c1')
})
