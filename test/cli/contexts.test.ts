import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exampleMe } from './examples.ts'
import { type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, temporaryFolder } from './terminal.ts'

let production: FakeServer
let staging: FakeServer
let folder: Awaited<ReturnType<typeof temporaryFolder>>

beforeEach(async () => {
  folder = await temporaryFolder()
  production = startFakeServer({ me: () => exampleMe() })
  staging = startFakeServer({ me: () => exampleMe() })
})
afterEach(async () => {
  for (const server of [production, staging]) {
    expect(server.breaches).toEqual([])
    await server.stop()
  }
  await folder.remove()
})

const run = (argv: string[], env: Record<string, string> = {}) => cpctl(argv, { env: { XDG_CONFIG_HOME: folder.path, ...env } })
const configPath = () => join(folder.path, 'cpctl', 'config.json')
const stored = async () => JSON.parse(await readFile(configPath(), 'utf8'))
const tokenSeenBy = (server: FakeServer) => server.received.at(-1)?.headers.get('authorization')
const login = async () => {
  await run(['login', '--url', production.url, '--context', 'production', '--token', 'cpk_p'])
  await run(['login', '--url', staging.url, '--token', 'cpk_s'])
}

describe('contexts', () => {
  test('a login is named as asked or by its host, and the latest is in use', async () => {
    await login()
    const { host } = new URL(staging.url)
    expect(await stored()).toEqual({
      current: host,
      contexts: {
        production: { url: production.url, credential: { kind: 'token', token: 'cpk_p' } },
        [host]: { url: staging.url, credential: { kind: 'token', token: 'cpk_s' } },
      },
    })
    const { stdout } = await run(['context', 'list'])
    expect(stdout).toMatch(/production +http/)
    expect(stdout).toContain(`${host} *`)
  })

  test('another is used by name for one command, or from then on', async () => {
    await login()
    await run(['whoami', '--context', 'production'])
    expect(tokenSeenBy(production)).toBe('Bearer cpk_p')
    await run(['whoami'])
    expect(tokenSeenBy(staging)).toBe('Bearer cpk_s')
    await run(['whoami'], { CPCTL_CONTEXT: 'production' })
    expect(production.received).toHaveLength(3)
    expect((await run(['context', 'use', 'production'])).stdout).toBe(`Commands use production now (${production.url}).\n`)
    await run(['whoami'])
    expect(production.received).toHaveLength(4)
  })

  test('two logins to one server live side by side', async () => {
    await login()
    await run(['login', '--url', production.url, '--context', 'auditor', '--token', 'cpk_a'])
    await run(['whoami', '--context', 'production'])
    expect(tokenSeenBy(production)).toBe('Bearer cpk_p')
    await run(['whoami'])
    expect(tokenSeenBy(production)).toBe('Bearer cpk_a')
    await run(['logout'])
    expect(Object.keys((await stored()).contexts)).toEqual(['production', new URL(staging.url).host])
  })

  test('one is renamed and stays in use, and removed', async () => {
    await login()
    await run(['context', 'rename', new URL(staging.url).host, 'staging'])
    expect((await stored()).current).toBe('staging')
    expect((await run(['context', 'rename', 'staging', 'production'])).stderr).toContain('There is a context production already.')
    await run(['context', 'remove', 'staging'])
    expect(Object.keys((await stored()).contexts)).toEqual(['production'])
  })

  test('an unknown name and one of another server are told', async () => {
    await login()
    const mistyped = await run(['context', 'use', 'prodution'])
    expect(mistyped).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Did you mean production?') })
    const unlike = await run(['whoami', '--context', 'production', '--url', staging.url])
    expect(unlike).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`is of ${production.url}`) })
  })

  test('logins of before contexts had names are taken over', async () => {
    await mkdir(join(folder.path, 'cpctl'))
    await writeFile(configPath(), JSON.stringify({ current: staging.url, servers: { [staging.url]: { kind: 'token', token: 'cpk_old' } } }))
    await run(['whoami'])
    expect(tokenSeenBy(staging)).toBe('Bearer cpk_old')
    await run(['context', 'rename', new URL(staging.url).host, 'staging'])
    expect(await stored()).toEqual({
      current: 'staging',
      contexts: { staging: { url: staging.url, credential: { kind: 'token', token: 'cpk_old' } } },
    })
  })
})
