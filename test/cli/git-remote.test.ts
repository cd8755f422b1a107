import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readAsked } from '../../cli/git/credential.ts'
import { commandsToAdd, commandToForget, repositoryUrl } from '../../cli/git/remote.ts'
import { writeCredentials } from '../../cli/session/credentials.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { exampleService, pageOf } from './examples.ts'
import { serverPerTest } from './server-per-test.ts'
import { cpctl, temporaryFolder } from './terminal.ts'

const { on } = serverPerTest()

let home: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  home = await temporaryFolder()
})
afterEach(() => home.remove())

const git = (...args: string[]) => runProcess(['git', ...args], { cwd: join(home.path, 'web'), env: { PATH: '/usr/bin:/bin' } })

async function repository(): Promise<string> {
  const cwd = join(home.path, 'web')
  await mkdir(cwd)
  await git('init', '-q')
  return cwd
}

const services = { listServices: () => pageOf('service', [exampleService()]) }
const path = `/git/${exampleService().ownerId}/web.git`

describe('cpctl git-remote', () => {
  test('adds the remote of a service without a key in it, shows it, and removes all of it', async () => {
    const cwd = await repository()
    const before = (await git('config', '--local', '--list')).stdout
    const run = on(services, { cwd })
    const added = await run('git-remote', 'add', 'web')
    expect(added).toMatchObject({ exitCode: 0, stderr: 'git push cpd main deploys it.\n' })
    const url = (await git('remote', 'get-url', 'cpd')).stdout.trim()
    expect(new URL(url).pathname).toBe(path)
    expect(added.stdout).toBe(`The remote cpd leads to web: ${url}\n`)
    const config = (await git('config', '--local', '--list')).stdout
    expect(config).toContain(`credential.${url}.helper=!cpctl git-credential\n`)
    expect(config).not.toContain('cpk_')
    expect(await run('git-remote', 'add', 'web')).toMatchObject({ exitCode: 0 })
    expect((await git('config', '--local', '--list')).stdout).toBe(config)
    expect(await run('git-remote', 'show')).toMatchObject({ exitCode: 0, stdout: `${url}\n` })
    expect(await run('git-remote', 'remove')).toMatchObject({ exitCode: 0, stderr: 'Removed the remote cpd.\n' })
    expect((await git('config', '--local', '--list')).stdout).toBe(before)
    expect(await run('git-remote', 'show', '--json')).toMatchObject({ exitCode: 0, stdout: 'null\n' })
    expect(await run('git-remote', 'remove')).toMatchObject({ exitCode: 0, stderr: 'This repository has no remote cpd.\n' })
  })

  test('leaves a remote alone that leads elsewhere, and takes another name', async () => {
    const cwd = await repository()
    await git('remote', 'add', 'cpd', 'https://example.com/other.git')
    const run = on(services, { cwd })
    expect(await run('git-remote', 'add', 'web')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cpctl git-remote remove') })
    expect((await git('remote', 'get-url', 'cpd')).stdout).toBe('https://example.com/other.git\n')
    const added = await run('git-remote', 'add', 'web', '--name', 'live', '--json')
    expect(JSON.parse(added.stdout)).toMatchObject({ name: 'live', serviceId: exampleService().id })
    expect(await run('git-remote', 'add', 'web', '--name', '--upload-pack=x')).toMatchObject({ exitCode: 2 })
  })

  test('says what to do outside of a repository', async () => {
    await mkdir(join(home.path, 'web'))
    expect(await on(services, { cwd: join(home.path, 'web') })('git-remote', 'add', 'web')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('git init'),
    })
  })
})

test('what is written is told as commands, which name the login and forget helpers that keep keys', () => {
  const url = repositoryUrl('https://cp.example.com', { ownerId: 'tea-1', name: 'my web' })
  expect(url).toBe('https://cp.example.com/git/tea-1/my%20web.git')
  expect(commandsToAdd({ name: 'cpd', url, login: 'work' }, false)).toEqual([
    ['remote', 'add', 'cpd', url],
    ['config', '--local', '--replace-all', `credential.${url}.helper`, ''],
    ['config', '--local', '--add', `credential.${url}.helper`, '!cpctl git-credential'],
    ['config', '--local', '--replace-all', `credential.${url}.username`, 'work'],
  ])
  expect(commandToForget(url)).toEqual(['config', '--local', '--remove-section', `credential.${url}`])
})

describe('cpctl git-credential', () => {
  const key = (token: string) => ({ kind: 'api_key' as const, token, keyId: 'key-1', email: 'ada@example.com' })
  const ask = async (text: string, env: Record<string, string> = {}, operation = 'get') =>
    await cpctl(['git-credential', operation], { stdin: text, env: { HOME: home.path, ...env } })
  const asking = (host: string, username?: string) =>
    `protocol=https\nhost=${host}\n${username === undefined ? '' : `username=${username}\n`}`

  beforeEach(() =>
    writeCredentials(join(home.path, '.config/cpctl/config.json'), {
      current: 'work',
      contexts: {
        work: { url: 'https://cp.example.com', credential: key('cpk_work') },
        'cp.example.com:443': { url: 'https://cp.example.com', credential: key('cpk_other') },
        typed: { url: 'https://typed.example.com', credential: { kind: 'session', token: 'cps_typed', email: 'ada@example.com' } },
      },
    }),
  )

  test('gives the key of the login in use, or of the one that the remote names', async () => {
    expect((await ask(asking('cp.example.com'))).stdout).toBe('username=cpctl\npassword=cpk_work\n')
    expect((await ask(asking('cp.example.com', 'cp.example.com:443'))).stdout).toBe('username=cpctl\npassword=cpk_other\n')
    expect((await ask(asking('cp.example.com', 'nobody'))).stdout).toBe('username=cpctl\npassword=cpk_work\n')
  })

  test('gives a key to its own server alone, scheme and port included', async () => {
    for (const text of [
      asking('cp.example.com.evil.example'),
      asking('cp.example.com:8443'),
      'protocol=http\nhost=cp.example.com\n',
      asking('evil.example', 'work'),
    ])
      expect(await ask(text)).toMatchObject({ exitCode: 1, stdout: 'quit=1\n', stderr: expect.stringContaining('cpctl login --url') })
    const given = { CPCTL_URL: 'https://given.example.com', CPCTL_TOKEN: 'cpk_given' }
    expect((await ask(asking('given.example.com'), given)).stdout).toContain('password=cpk_given\n')
    expect((await ask(asking('cp.example.com'), given)).stdout).toContain('password=cpk_work\n')
  })

  test('says of a session that git cannot show it, and has nothing to store', async () => {
    expect(await ask(asking('typed.example.com'))).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cpctl login --device') })
    expect(await ask(asking('cp.example.com'), {}, 'store')).toMatchObject({ exitCode: 0, stdout: '' })
    expect(readAsked('protocol=ssh\nhost=cp.example.com\n')).toBeUndefined()
    expect(readAsked('')).toBeUndefined()
  })
})
