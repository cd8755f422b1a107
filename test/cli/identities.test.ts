import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import { workspaceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, temporaryFolder } from './terminal.ts'

const user = { id: 'usr-0b1c2d3e4f5g6h7i8j9k', email: 'ada@example.com', name: 'Ada' }
const identity = {
  provider: 'github' as const,
  issuer: 'https://github.com/login/oauth',
  email: 'ada@work.example',
  createdAt: '2026-01-31T09:30:00.000Z',
}

let server: FakeServer
let folder: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
  await folder.remove()
})

/** Who holds a key signs in for the length of the command. */
function run(answers: Answers, ...argv: string[]): ReturnType<typeof cpctl> {
  const session = Response.json(
    { user, workspace: { id: workspaceId, name: 'Main' } },
    { headers: { 'set-cookie': 'cpd_session=s3ss; Path=/' } },
  )
  server = startFakeServer({ login: () => session, logout: () => undefined, ...answers })
  const env = { XDG_CONFIG_HOME: folder.path, CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_key' }
  return cpctl(['account', 'identities', ...argv, '--email', user.email, '--password-stdin'], { env, stdin: 'a long password' })
}

test('identities list shows the accounts that are linked, as a table or as the API gives them', async () => {
  const answers: Answers = { listIdentities: () => [{ identity, cursor: 'c' }] }
  const shown = await run(answers, 'list')
  expect(shown).toMatchObject({ exitCode: 0 })
  expect(shown.stdout).toContain('github')
  expect(shown.stdout).toContain('ada@work.example')
  await server.stop()
  expect(JSON.parse((await run(answers, 'list', '--json')).stdout)).toEqual([{ identity, cursor: 'c' }])
})

test('identities list says how to link one where there is none', async () => {
  const shown = await run({ listIdentities: () => [] }, 'list')
  expect(shown.stderr).toContain('Link one in the browser')
})

test('identities unlink ends signing in with a provider', async () => {
  const shown = await run({ unlinkIdentity: () => undefined }, 'unlink', 'github')
  expect(shown).toMatchObject({ exitCode: 0, stdout: 'Signing in with github is over for your account.\n' })
  expect(server.received.find(({ id }) => id === 'unlinkIdentity')?.params).toEqual({ provider: 'github' })
})

test('identities unlink says what to do where it cannot be done', async () => {
  const missing = new AppError('not_found', 'No account of this provider is linked to yours.')
  const shown = await run(
    {
      unlinkIdentity() {
        throw missing
      },
    },
    'unlink',
    'apple',
  )
  expect(shown.exitCode).not.toBe(0)
  expect(shown.stderr).toContain('cpctl account identities list shows those that are.')
})
