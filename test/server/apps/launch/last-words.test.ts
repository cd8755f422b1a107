import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lastRunIn, tellingOf, wholeLines, withoutSecrets, wordsIn } from '../../../../server/apps/launch/last-words.ts'
import { MAX_LINE_BYTES } from '../../../../server/telemetry/logs/collector.ts'
import type { Service } from '../../../../shared/service.ts'
import { createService, deployEnd, upload } from '../../../support/apps.ts'
import { tarGz } from '../../../support/archives.ts'
import { call } from '../../../support/client.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

describe('the last words of an app', () => {
  const lines = (...messages: string[]) =>
    messages.map((message) => ({ type: message.startsWith('==> ') ? ('platform' as const) : ('app' as const), message }))
  const numbered = Array.from({ length: 30 }, (_, n) => `line ${n}`)
  test('are its last twenty lines, without colours, empty lines and the platform’s own', () => {
    const words = wordsIn(
      lastRunIn(lines('==> It exited with code 1.', ...numbered, '', '\u001b[31mred\u001b[0m\tend', '==> It exited with code 1.')),
    )
    expect(words).toHaveLength(20)
    expect(words.at(-1)).toBe('red end')
    expect(words[0]).toBe('line 11')
  })
  test('are of the last run in which it said something', () => {
    const run = (n: number) => [`run ${n}`, 'it fails', `==> It exited with code 1. Next start in ${n}.0 s.`]
    const told = ['run 2', 'it fails']
    expect(wordsIn(lastRunIn(lines(...run(1), ...run(2))))).toEqual(told)
    expect(wordsIn(lastRunIn(lines(...run(1), ...run(2), ' ', '==> It exited with code 1.')))).toEqual(told)
    expect(wordsIn(lastRunIn(lines('==> It exited with code 1.')))).toEqual([])
  })
  test('begin with no line whose beginning is not there', () => {
    const piece = 'x'.repeat(MAX_LINE_BYTES - 1)
    const left = 'Output came faster than it could be stored: 10 bytes were left out here.'
    const whole = wholeLines(lines('whole', piece, 'end of it', 'whole', left, 'perhaps half', 'whole', piece, '==> remark', 'end of it'))
    expect(whole.map(({ message }) => message)).toEqual(['whole', piece, 'whole', left, 'whole', piece, '==> remark'])
    expect(wholeLines(lines(...Array.from({ length: 100 }, (_, n) => `${n}`)))).toHaveLength(99)
  })
  test('begin where it says what went wrong', () => {
    const node = [
      'node:internal/modules:1',
      'throw err',
      "Error: Cannot find module 'express'",
      '    at Function._load (x.js:1)',
      '    at y',
      '}',
      'Node.js v22',
    ]
    expect(tellingOf(node)).toBe("Error: Cannot find module 'express' | } | Node.js v22")
    const python = ['Traceback (most recent call last):', '  File "app.py", line 3', "ModuleNotFoundError: No module named 'flask'"]
    expect(tellingOf(python)).toBe("ModuleNotFoundError: No module named 'flask'")
    expect(tellingOf(['a', 'b', 'c', 'd'])).toBe('b | c | d')
  })
  test('name no secrets', () => {
    expect(withoutSecrets('cannot reach postgres://u:pw@db/x, PORT 3000', ['postgres://u:pw@db/x', '3000'])).toBe(
      'cannot reach [hidden], PORT 3000',
    )
    expect(withoutSecrets('bad key MIIBVQIB', ['-----BEGIN KEY-----\nMIIBVQIB\n-----END'])).toBe('bad key [hidden]')
  })
})

describe('a service whose first deploy fails', () => {
  let platform: Platform
  let id = ''
  beforeAll(async () => {
    platform = await startPlatform()
    id = await createService(platform, { name: 'first', envVars: [{ key: 'DATABASE_URL', value: 'postgres://u:secret-pw@db/x' }] })
  }, 120_000)
  afterAll(() => platform.close(), 120_000)

  const read = async <T>(path: string) => (await call<T>(`${platform.url}/v1${path}`, { token: platform.adminToken })).body
  const page = async () => (await platform.ingress.visit('first.localhost')).text

  test('is not deployed, then failed, with the app’s own words in the log and the reason', { timeout: 120_000 }, async () => {
    expect((await read<Service>(`/services/${id}`)).latestDeployStatus).toBe('none')
    await until('the page says so', async () => (await page()).includes('has never been live'))
    const code = "console.log('starting up'); console.error('Error: cannot reach ' + process.env.DATABASE_URL); process.exit(7)"
    const archive = await tarGz([
      { name: 'server.js', content: code },
      { name: 'package.json', content: '{}' },
    ])
    const { body } = await upload(platform, id, new Uint8Array(archive))
    const deploy = await deployEnd(platform, id, body.deployId)
    expect(deploy.status).toBe('update_failed')
    expect(deploy.reason).toMatch(/^It exited with code 7 .* It last said: Error: cannot reach \[hidden\]$/)
    const log = () => read<unknown>(`/logs?resource=${id}&type=build,platform&limit=100&direction=forward`)
    await until('the log has them', async () =>
      /The last lines of the app.*starting up.*cannot reach postgres/.test(JSON.stringify(await log())),
    )
    expect((await read<Service>(`/services/${id}`)).latestDeployStatus).toBe('update_failed')
    expect(await page()).toContain('no deploy of it has succeeded so far')
    expect(await page()).not.toContain('in a moment')
  })
})
