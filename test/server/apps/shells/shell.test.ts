import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shellCloseCodes, shellFrameBytes, shellInputWindowBytes } from '../../../../shared/shell.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { openShell, shellUrl, type TestShell } from '../../../support/shell.ts'
import { upgradeHeaders } from '../../../support/socket.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
let service: TestService
beforeAll(async () => {
  platform = await startPlatform()
  service = await makeService(platform, {
    name: 'web',
    envVars: [{ key: 'COLOUR', value: 'green' }],
    secretFiles: [{ name: 'key.pem', content: 'secret words' }],
  })
  await service.goLive('hello-js')
})
afterAll(() => platform.close())

const open = (query: Record<string, string | number> = {}) => openShell(platform, service.id, { query })
const run = async (command: string) => {
  const shell = await open({ command })
  await shell.closed
  return shell
}
const exitOf = (shell: TestShell) => shell.notices.find(({ type }) => type === 'exit')
const refusal = (id: string, query: Record<string, string> = {}) =>
  call(shellUrl(platform, id, query), { headers: { ...upgradeHeaders, authorization: `Bearer ${platform.adminToken}` } })

describe('a shell', () => {
  test('is in the surroundings of the newest instance: its files, variables, secrets and processes', async () => {
    const [instance] = await service.instances()
    const shell = await open({ term: 'screen-256color' })
    shell.type('echo "<$COLOUR $TERM $CPD_INSTANCE_ID $(cat VERSION) $(cat $CPD_SECRETS_DIR/key.pem) $(($PORT > 0))>"\n')
    expect(await shell.prints(/<(green.*)>/)).toBe(`green screen-256color ${instance?.id} 1 secret words 1`)
    shell.type('tr "\\0" " " < /proc/1/cmdline; ls -d /proc/[0-9]* | wc -l; cat /proc/*/cmdline | tr "\\0" " "\n')
    await shell.prints('server.js')
    shell.socket.close()
  })

  test('runs as the user of the service, which has no other groups and no capabilities', async () => {
    const shell = await run('id -u; id -G; grep CapEff /proc/self/status')
    const { uid } = platform.db.query<{ uid: number }, [string]>('SELECT uid FROM services WHERE id = ?').get(service.id) ?? { uid: 0 }
    expect(shell.text()).toMatch(new RegExp(`^${uid}\\r\\n${uid}\\r\\nCapEff:\\s0+\\r\\n$`))
  })

  test('tells the exit code of its command, or the signal that ended it, and is closed with 1000', async () => {
    const failed = await run('exit 3')
    expect(exitOf(failed)).toEqual({ type: 'exit', exitCode: 3, signal: null })
    expect(await failed.closed).toMatchObject({ code: shellCloseCodes.ended })
    expect(exitOf(await run('kill -TERM $$'))).toMatchObject({ type: 'exit', signal: 'SIGTERM' })
  })

  test('has a short prompt: the service, and the folder below its release', async () => {
    const shell = await openShell(platform, service.id)
    await shell.prints('web $ ')
    shell.type('cd /tmp\r')
    await shell.prints('web/tmp $ ')
    shell.socket.close()
  })

  test('has the size it is given, and that it is given later', async () => {
    const shell = await open({ columns: 101, rows: 41 })
    shell.type('stty size\n')
    await shell.prints('41 101')
    shell.type('trap "stty size" WINCH; echo "<trapped>"\n')
    await shell.prints('\r<trapped>')
    shell.say({ type: 'resize', columns: 77, rows: 22 })
    shell.type('\n')
    await shell.prints('22 77')
    shell.socket.close()
  })

  test('has job control: Ctrl-Z stops, fg goes on, Ctrl-C ends', async () => {
    const shell = await open()
    shell.type('sleep 1234\n')
    await until('it runs', () => shell.text().includes('sleep 1234'))
    await Bun.sleep(300)
    shell.type('\u001a')
    await shell.prints('Stopped')
    shell.type('fg\n')
    await Bun.sleep(300)
    shell.type('\u0003')
    shell.type('echo "<$?>"\n')
    expect(await shell.prints(/<(\d+)>/)).toBe('130')
    shell.type('exit\n')
    await shell.closed
  })

  test('passes characters of every kind through, both ways', async () => {
    const shell = await open({ command: 'stty -echo; read -r line; printf "\\033[?1049h<%s>\\033[?1049l" "$line"' })
    await Bun.sleep(300)
    shell.type('žluťoučký 🐎 ∀x\n')
    await shell.closed
    expect(shell.text()).toContain('\u001b[?1049h<žluťoučký 🐎 ∀x>\u001b[?1049l')
  })

  test('loses nothing of 10 MB of output', async () => {
    const shell = await run('seq 1 1500000')
    const hash = createHash('sha256')
    for (let n = 1; n <= 1_500_000; n++) hash.update(`${n}\r\n`)
    expect(createHash('sha256').update(shell.output()).digest('hex')).toBe(hash.digest('hex'))
  })

  test('loses nothing of 1 MB that is pasted', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(65_536))
    const paste = Buffer.concat(Array.from({ length: 16 }, () => bytes))
    const shell = await open({ command: `stty raw -echo; echo ready; head -c ${paste.length} > $HOME/paste; sha256sum $HOME/paste` })
    await shell.prints('ready')
    for (let at = 0; at < paste.length; at += shellFrameBytes) {
      const taken = () => shell.notices.reduce((sum, notice) => sum + (notice.type === 'taken' ? notice.bytes : 0), 0)
      await until('there is room', () => at + shellFrameBytes - taken() <= shellInputWindowBytes)
      shell.type(paste.subarray(at, at + shellFrameBytes))
    }
    await shell.closed
    expect(shell.text()).toContain(createHash('sha256').update(paste).digest('hex'))
  })

  test('is told of by events that name who opened it, and not what was typed', async () => {
    const shell = await open({ command: 'echo secret-of-the-command' })
    await shell.closed
    const closing = await until('its end is written down', async () =>
      (await service.events()).findLast(({ type }) => type === 'shell_closed'),
    )
    const opening = (await service.events()).findLast(({ type }) => type === 'shell_opened')
    expect(opening?.details).toMatchObject({ actor: { type: 'static_token' }, shellId: closing.details.shellId })
    expect(closing.details).toMatchObject({ exitCode: 0 })
    expect(JSON.stringify([opening, closing])).not.toContain('secret-of-the-command')
  })
})

describe('a shell is refused with a reason', () => {
  test('for a service that has nothing to look at', async () => {
    const never = await makeService(platform, { name: 'never deployed' })
    expect(expectError(await refusal(never.id), 'conflict').message).toContain('Deploy it')
    const site = await makeService(platform, { type: 'static_site', name: 'site' })
    expectError(await refusal(site.id), 'conflict')
  })

  test('for an instance that is none of the service', async () => {
    const other = await makeService(platform, { name: 'other' })
    await other.goLive('hello-js')
    const [instance] = await other.instances()
    expectError(await refusal(service.id, { instance: instance?.id ?? '' }), 'not_found')
    expectError(await refusal(service.id, { instance: 'all' }), 'validation_failed')
  })

  test('for a size or terminal that is none', async () => {
    for (const query of [
      { columns: '0' },
      { rows: '-1' },
      { columns: '100000' },
      { term: '../../etc' },
      { term: '-x' },
      { outputWindow: '1' },
    ])
      expectError(await refusal(service.id, query as unknown as Record<string, string>), 'validation_failed')
  })

  test('when there are ten of a service, and no longer when one is closed', async () => {
    const shells = await Promise.all(Array.from({ length: 10 }, () => open({ command: 'cat' })))
    expect(expectError(await refusal(service.id), 'conflict').message).toContain('10 shells')
    shells[0]?.socket.close()
    const next = await until('there is room', () => open({ command: 'cat' }).catch(() => undefined))
    for (const shell of [...shells, next]) shell.socket.close()
    const closings = async () => (await service.events()).filter(({ type }) => type === 'shell_closed').length
    const openings = (await service.events()).filter(({ type }) => type === 'shell_opened').length
    await until('all have left', async () => (await closings()) === openings)
  })
})

describe('memory is bounded', () => {
  test('for a client that does not say that it has shown anything: nothing more than its window comes', async () => {
    const shell = await open({ command: 'yes', outputWindow: 65_536 })
    await until('the window is full', () => shell.output().length >= 65_536)
    await Bun.sleep(500)
    const before = shell.output().length
    // A little was read before the terminal was told to wait.
    expect(before).toBeLessThan(4 * 65_536)
    shell.say({ type: 'taken', bytes: before })
    await until('it goes on', () => shell.output().length > before)
    shell.socket.close()
  })

  test('for a client that types what nobody reads: it is closed', async () => {
    const shell = await open({ command: 'stty raw -echo; echo ready; sleep 60' })
    await shell.prints('ready')
    for (let sent = 0; sent < 8 * shellInputWindowBytes; sent += shellFrameBytes) shell.type(new Uint8Array(shellFrameBytes))
    expect(await shell.closed).toMatchObject({ code: shellCloseCodes.refused, reason: expect.stringContaining('taken') })
  })

  test('for a client that says what no shell knows, or too much at once: it is closed', async () => {
    for (const words of ['{"type":"resize","columns":"many","rows":1}', 'not JSON', '{"type":"resize","columns":0,"rows":10}']) {
      const shell = await open({ command: 'cat' })
      shell.socket.send(words)
      expect(await shell.closed).toMatchObject({ code: shellCloseCodes.refused })
    }
    const shell = await open({ command: 'cat' })
    shell.type(new Uint8Array(1024 * 1024))
    expect((await shell.closed).code).toBeGreaterThan(1000)
  })
})
