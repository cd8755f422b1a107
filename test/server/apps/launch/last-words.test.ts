import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tellingOf, withoutSecrets, wordsIn } from '../../../../server/apps/launch/last-words.ts'
import type { Service } from '../../../../shared/service.ts'
import { createService, deployEnd, upload } from '../../../support/apps.ts'
import { tarGz } from '../../../support/archives.ts'
import { call } from '../../../support/client.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

describe('the last words of an app', () => {
  test('are its last twenty lines, without colours, empty lines and the platform’s own', () => {
    const text = `${Array.from({ length: 30 }, (_, n) => `line ${n}`).join('\n')}\n\n==> It exited with code 1.\n\u001b[31mred\u001b[0m\tend\n`
    const lines = wordsIn(text)
    expect(lines).toHaveLength(20)
    expect(lines.at(-1)).toBe('red end')
    expect(lines[0]).toBe('line 11')
  })
  test('are of its last run only', () => {
    const run = (n: number) => `run ${n}\nit fails\n==> It exited with code 1. Next start in ${n}.0 s.\n`
    expect(wordsIn(run(1) + run(2))).toEqual(['run 2', 'it fails'])
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
    const log = () => read<unknown>(`/logs?resource=${id}&type=build&limit=100&direction=forward`)
    await until('the log has them', async () =>
      /The last lines of the app.*starting up.*cannot reach postgres/.test(JSON.stringify(await log())),
    )
    expect((await read<Service>(`/services/${id}`)).latestDeployStatus).toBe('update_failed')
    expect(await page()).toContain('no deploy of it has succeeded so far')
    expect(await page()).not.toContain('in a moment')
  })
})
