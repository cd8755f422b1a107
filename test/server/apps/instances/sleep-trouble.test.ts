import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectHttp } from '../../../support/http-connection.ts'
import { processOf } from '../../../support/instance-process.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService } from '../../../support/service.ts'
import { openShell } from '../../../support/shell.ts'
import { hurry, makeSleeper, type Sleeper } from '../../../support/sleeper.ts'
import { until } from '../../../support/until.ts'

const ASLEEP_MS = 2000
const TIMEOUT_MS = 30_000

let platform: Platform
let sleeper: Sleeper
beforeAll(async () => {
  platform = await startPlatform()
  sleeper = await makeSleeper(platform, { name: 'frozen', mode: 'freeze' })
})
afterAll(() => platform?.close())

const answersAgain = (one: Sleeper) => until('it answers', async () => (await one.visit()).status === 200)

describe('a frozen service', () => {
  test('takes no processor time', async () => {
    await sleeper.sleeps()
    const [instance] = await sleeper.instances()
    const used = async () => (await platform.context.engine.usage(instance?.id ?? ''))?.cpuSeconds
    // The service is shown as asleep from just before it is frozen.
    await until('it stands still', async () => {
      const seen = await used()
      await Bun.sleep(100)
      return seen === (await used())
    })
    const before = await used()
    await Bun.sleep(ASLEEP_MS)
    expect(await used()).toBe(before)
  })

  test('answers on a connection that its client has kept open through its sleep', async () => {
    const connection = await connectHttp(Number(platform.ingress.address.split(':')[1]))
    for (let round = 0; round < 3; round++) {
      await sleeper.sleeps()
      expect(await connection.get('frozen.localhost', '/', TIMEOUT_MS)).toMatchObject({ status: 200 })
      expect(await connection.get('frozen.localhost', '/', TIMEOUT_MS)).toMatchObject({ status: 200 })
    }
    connection.close()
  })

  test('is started anew when it was killed in its sleep', async () => {
    await sleeper.sleeps()
    const [instance] = await sleeper.instances()
    process.kill(processOf(platform.context.paths, instance?.id ?? '').pid, 'SIGKILL')
    await until('another one runs', async () => {
      await sleeper.visit()
      const [next] = await sleeper.instances()
      return next?.status === 'running' && (next.id !== instance?.id || next.restarts > 0)
    })
    await answersAgain(sleeper)
  })

  test('is woken for a shell, which works, and does not fall asleep while that is open', async () => {
    await sleeper.sleeps()
    const shell = await openShell(platform, sleeper.id)
    shell.type('echo "<$((20 + 22))>"\n')
    expect(await shell.prints(/<(\d+)>/)).toBe('42')
    await Bun.sleep(ASLEEP_MS * 2)
    const [instance] = await sleeper.instances()
    expect(instance?.status).toBe('running')
    shell.socket.close()
    await sleeper.sleeps()
    expect(await sleeper.wakes()).toContain('shell')
  })

  test('that cannot be woken leaves its requests an answer', async () => {
    const stubborn = await makeService(platform, {
      name: 'stubborn',
      serviceDetails: { sleep: { mode: 'stop', idleSeconds: 60 } },
    })
    hurry(platform, stubborn.id)
    // The service starts but once.
    await stubborn.goLive('hello-js', {
      'server.js': `const { existsSync, writeFileSync } = require('node:fs')
        const mark = process.env.HOME + '/started'
        if (existsSync(mark)) process.exit(3)
        writeFileSync(mark, '')
        require('node:http').createServer((_, response) => response.end('up')).listen(process.env.PORT, '127.0.0.1')
        process.on('SIGTERM', () => process.exit(0))`,
    })
    await stubborn.settles()
    const answers = await Promise.all(Array.from({ length: 5 }, () => platform.ingress.visit('stubborn.localhost')))
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 502, text: expect.stringContaining('stubborn cannot be reached') })
    }
    expect((await stubborn.events()).at(-1)).toMatchObject({ type: 'server_failed', details: { reason: 'It exited with code 3' } })
  })
})

test('many requests that wait cost the ingress little, and all of them are answered', async () => {
  await sleeper.sleeps()
  const memoryMb = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${platform.ingress.pid}/status`, 'utf8'))?.[1]) / 1024
  const before = memoryMb()
  // Not by fetch: it opens 256 connections at most, and the control plane in this process needs some of them.
  const connections = await Promise.all(Array.from({ length: 800 }, () => connectHttp(Number(platform.ingress.address.split(':')[1]))))
  const answers = await Promise.all(connections.map((connection) => connection.get('frozen.localhost', '/', TIMEOUT_MS)))
  for (const connection of connections) connection.close()
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(memoryMb() - before).toBeLessThan(100)
})
