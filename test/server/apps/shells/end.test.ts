import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { shellCloseCodes } from '../../../../shared/shell.ts'
import { call } from '../../../support/client.ts'
import { addEnvironment, putInto } from '../../../support/environments.ts'
import { defaultWorkspaceId, makeKey } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { openShell, pidsWith, shellUrl, type TestShell } from '../../../support/shell.ts'
import { upgradeHeaders } from '../../../support/socket.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
let service: TestService
let marker: string
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())
beforeEach(async () => {
  // A number of seconds that no other process sleeps.
  marker = `${900_000 + Math.floor(Math.random() * 90_000)}`
  service = await makeService(platform, { name: `ends-${marker}` })
  await service.goLive('hello-js')
})
afterEach(() => service.ask('', { method: 'DELETE' }))

/** Everything that tries to outlive the shell: without a hang-up, in sessions of its own, as a daemon, deaf to every signal. */
const survivors = [
  'nohup sleep $M >/dev/null 2>&1 &',
  'setsid sleep $M &',
  '(setsid sh -c "sleep $M & sleep $M" </dev/null >/dev/null 2>&1 &);',
  "setsid bash -c 'trap \"\" HUP INT TERM QUIT TSTP TTIN TTOU; while true; do sleep '$M'; done' &",
]

async function openWithSurvivors(query: Record<string, string> = {}): Promise<TestShell> {
  const shell = await openShell(platform, service.id, { query })
  shell.type(`M=${marker}; ${survivors.join(' ')} echo "<started $?>"\n`)
  await shell.prints('<started 0>')
  await until('they run', () => pidsWith(`sleep ${marker}`).length >= 5)
  return shell
}

const allGone = () => until('nothing of the shell is left', () => pidsWith(marker).length === 0)
const reasonOf = async () =>
  await until('its end is written down', async () => (await service.events()).find(({ type }) => type === 'shell_closed')?.details.reason)
const stillServes = async () => expect((await platform.ingress.visit(`ends-${marker}.localhost`)).status).toBe(200)

describe('everything that was started in a shell is gone, and the instance goes on', () => {
  test('when the client closes it', async () => {
    const shell = await openWithSurvivors()
    shell.socket.close()
    await allGone()
    expect(await reasonOf()).toBe('The client went away')
    await stillServes()
  })

  test('when the connection is cut', async () => {
    const shell = await openWithSurvivors()
    shell.socket.terminate()
    await allGone()
    await stillServes()
  })

  test('when its command ends by itself', async () => {
    const shell = await openWithSurvivors()
    shell.type('exit 0\n')
    await shell.closed
    await allGone()
    await stillServes()
  })

  test('when the service is suspended, or deleted', async () => {
    const shell = await openWithSurvivors()
    await service.ask('/suspend', { method: 'POST' })
    // The instance it looks into may end first, which ends it as well.
    expect([shellCloseCodes.refused, shellCloseCodes.ended]).toContain((await shell.closed).code)
    await allGone()
    await service.ask('/resume', { method: 'POST' })
    await service.settles('running')
    const other = await openWithSurvivors()
    await service.ask('', { method: 'DELETE' })
    await other.closed
    await allGone()
  })

  test('when its user may open it no longer: the service is moved out of the scope, or what it is in becomes protected', async () => {
    const workspaceId = await defaultWorkspaceId(platform)
    const { environmentId } = addEnvironment(platform, { workspaceId })
    putInto(platform, service.id, environmentId)
    const confined = await call<{ secret: string }>(`${platform.url}/v1/api-keys`, {
      json: { name: 'confined', role: 'developer', scope: { environmentIds: [environmentId] } },
      token: platform.adminToken,
    })
    const { secret } = await makeKey(platform, 'developer')
    const openAs = (token: string) => openShell(platform, service.id, { headers: { authorization: `Bearer ${token}` } })
    const [ofConfined, ofDeveloper, ofAdmin] = [await openAs(confined.body.secret), await openAs(secret), await openAs(platform.adminToken)]
    platform.db.query("UPDATE environments SET protected_status = 'protected' WHERE id = ?").run(environmentId)
    expect(await ofDeveloper.closed).toMatchObject({ code: shellCloseCodes.refused, reason: expect.stringContaining('protected') })
    expect(await ofConfined.closed).toMatchObject({ code: shellCloseCodes.refused })
    platform.db.query("UPDATE environments SET protected_status = 'unprotected' WHERE id = ?").run(environmentId)
    const again = await openAs(confined.body.secret)
    putInto(platform, service.id, null)
    expect(await again.closed).toMatchObject({ code: shellCloseCodes.refused, reason: expect.stringContaining('moved out') })
    ofAdmin.type('echo "<still $((1 + 1))>"\n')
    await ofAdmin.prints('<still 2>')
    ofAdmin.socket.close()
  })

  test('when the instance it looks into is stopped', async () => {
    const shell = await openWithSurvivors()
    await service.ask('/restart', { method: 'POST' })
    await shell.closed
    await allGone()
  })
})

describe('a client that is there no more', () => {
  let raw: Socket
  afterEach(() => raw.destroy())

  /** A connection that says nothing after its handshake and answers no ping, as one of a machine that sleeps. */
  async function openSilently(command: string): Promise<void> {
    const url = new URL(shellUrl(platform, service.id, { command }))
    raw = connect(Number(url.port), url.hostname)
    const headers = { host: url.host, authorization: `Bearer ${platform.adminToken}`, ...upgradeHeaders }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    raw.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    raw.pause()
    await until('the command runs', () => pidsWith(marker).length > 0)
  }

  test('is noticed by its silence', async () => {
    await openSilently(`sleep ${marker}`)
    await allGone()
    expect(await reasonOf()).toBe('The client answered no more')
  }, 60_000)

  test('has its program wait that prints without end', async () => {
    await openSilently(`yes ${marker}`)
    const waiting = await until('the program waits', async () => {
      const before = bytesWritten()
      await Bun.sleep(500)
      return before !== undefined && before === bytesWritten() && before
    })
    expect(waiting).toBeLessThan(64 * 1024 * 1024)
    await allGone()
  }, 60_000)

  /** What `yes` has written; undefined before it begins and when it has gone. Memory would be that of all tests that run beside. */
  function bytesWritten(): number | undefined {
    const pid = pidsWith(marker).find((one) => readFileSync(`/proc/${one}/comm`, 'utf8').trim() === 'yes')
    const counted = pid === undefined ? undefined : /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]
    return counted === undefined ? undefined : Number(counted)
  }
})

describe('a shell of its own, where nothing runs', () => {
  test('has the files and variables of the live release, and ends with its client', async () => {
    const broken = await makeService(platform, { name: `alone-${marker}`, envVars: [{ key: 'COLOUR', value: 'blue' }] })
    await broken.goLive('hello-js')
    await broken.ask('/env-vars/CRASH', { method: 'PUT', json: { value: 'yes' } })
    platform.db.query("UPDATE workloads SET phase = 'pending', start_at = ? WHERE owner_id = ?").run(Date.now() + 600_000, broken.id)
    const shell = await openShell(platform, broken.id)
    shell.type(`echo "<$COLOUR $(cat VERSION) $CPD_INSTANCE_ID>"; setsid sleep ${marker} &\n`)
    expect(await shell.prints(/<(blue .*)>/)).toMatch(/^blue 1 srv-.*-shell-/)
    await until('it runs', () => pidsWith(`sleep ${marker}`).length > 0)
    shell.socket.terminate()
    await allGone()
    await broken.ask('', { method: 'DELETE' })
  })
})
