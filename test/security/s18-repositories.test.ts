import { expect, test } from 'vitest'
import type { DeployKeyCredential } from '../../server/apps/repositories/access/credential.ts'
import { gitEnvironment } from '../../server/apps/repositories/git/environment.ts'
import { openRemote, type RemoteContext } from '../../server/apps/repositories/git/remote.ts'
import { SSH_CONFIG_FILE } from '../../server/apps/repositories/git/ssh.ts'
import { sshFiles } from '../../server/apps/repositories/git/ssh-files.ts'
import { readConfig } from '../../server/boot/settings/config.ts'
import { AppError } from '../../shared/error.ts'

const deployKey: DeployKeyCredential = { kind: 'deploy_key', privateKey: '', hostKey: undefined, pin: () => undefined }

/** A server whose resolver gives these answers, one after the other. */
function contextOf(answers: string[][], env: Record<string, string> = {}): RemoteContext & { asked: string[] } {
  const asked: string[] = []
  return {
    config: readConfig({ CP_DATA_DIR: '/nonexistent', ...env }, {}, false),
    credentials: [async ({ url }) => (/^https/.test(url) ? undefined : deployKey)],
    asked,
    lookup: async (host) => {
      asked.push(host)
      return answers.shift() ?? []
    },
  }
}

const open = (context: RemoteContext, url: string) =>
  openRemote(context, { workspaceId: 'tea-1', serviceId: 'srv-1', url }, new AbortController().signal)

const settingsOf = (environment: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: Number(environment.GIT_CONFIG_COUNT) }, (_, at) => [
      String(environment[`GIT_CONFIG_KEY_${at}`]),
      String(environment[`GIT_CONFIG_VALUE_${at}`]),
    ]),
  )

test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '100.64.0.1', '::1', '::ffff:10.0.0.1', 'fd00:ec2::254', '64:ff9b::a00:1'])(
  'S18: a repository at a name of %s is not gone to',
  async (address) => {
    await expect(open(contextOf([[address]]), 'https://git.example.com/a/b')).rejects.toThrow('leads into a private network')
    await expect(open(contextOf([]), `https://${address.includes(':') ? `[${address}]` : address}/a/b`)).rejects.toThrow(AppError)
  },
)

test('S18: git goes to the address that was looked at, whatever the name leads to next, and follows nothing elsewhere', async () => {
  const context = contextOf([['93.184.216.34'], ['127.0.0.1']])
  const remote = await open(context, 'https://git.example.com/a/b')
  expect(context.asked).toEqual(['git.example.com'])
  const settings = settingsOf(gitEnvironment(remote))
  expect(settings).toMatchObject({
    'http.curloptResolve': 'git.example.com:443:93.184.216.34',
    'http.followRedirects': 'false',
    'http.proxy': '',
    'protocol.allow': 'never',
    'protocol.https.allow': 'always',
    'core.hooksPath': '/dev/null',
  })
  expect(Object.keys(settings).filter((key) => /^protocol\..*\.allow$/.test(key))).toEqual(['protocol.https.allow'])
})

test('S18: an address that the operator has opened is gone to', async () => {
  const context = contextOf([['10.0.0.1']], { CP_OUTGOING_ALLOW: '10.0.0.0/8' })
  expect(await open(context, 'https://git.example.com:3000/a/b')).toMatchObject({ address: '10.0.0.1', url: { port: 3000 } })
})

test.each(['10.0.0.1', '127.0.0.1', '169.254.169.254', 'fd00:ec2::254'])('S18: ssh is not led to %s by a name either', async (address) => {
  for (const url of ['git@git.example.com:a/b', 'ssh://git@git.example.com:2222/a/b'])
    await expect(open(contextOf([[address]]), url)).rejects.toThrow('leads into a private network')
})

test('S18: ssh goes to the address that was looked at, and looks nothing up itself', async () => {
  const context = contextOf([['93.184.216.34'], ['127.0.0.1']])
  const remote = await open(context, 'git@git.example.com:a/b')
  if (remote.kind !== 'ssh') throw new Error('It is reached otherwise.')
  expect(context.asked).toEqual(['git.example.com'])
  expect(sshFiles(remote)[SSH_CONFIG_FILE]?.split('\n')).toEqual(
    expect.arrayContaining(['HostName 93.184.216.34', 'HostKeyAlias git.example.com', 'CanonicalizeHostname no', 'ProxyCommand none']),
  )
  const { GIT_SSH_COMMAND, ...environment } = gitEnvironment(remote)
  expect(GIT_SSH_COMMAND).toBe('/usr/bin/ssh -F ssh_config')
  expect(settingsOf(environment)).toMatchObject({ 'protocol.allow': 'never', 'protocol.ssh.allow': 'always' })
})

test.each([
  ...[
    'ssh://-oProxyCommand=id@example.com/a',
    'ssh://git@-oProxyCommand=id/a',
    'git@-oProxyCommand=id:a',
    'git@example.com:-a',
    'git@example.com:a;id',
  ],
  ...['ssh://git:word@example.com/a', 'ext::sh -c id', 'file:///etc', '--upload-pack=id'],
])('S3: git is not started for %s', async (url) => {
  const context = contextOf([])
  await expect(open(context, url)).rejects.toThrow('no URL of https or ssh')
  expect(context.asked).toEqual([])
})
