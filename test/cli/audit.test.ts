import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Interrupted } from '../../cli/base/error.ts'
import { openAuditSigner } from '../../server/identity/audit-chain/signer.ts'
import type { AuditEntry } from '../../shared/audit.ts'
import { call } from '../support/client.ts'
import { makeProject } from '../support/projects.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { cpctl, type TerminalOptions, temporaryFolder } from './terminal.ts'

let server: TestServer
let folder: Awaited<ReturnType<typeof temporaryFolder>>

beforeEach(async () => {
  server = await startTestServer()
  folder = await temporaryFolder()
  // The first entry is that of the server's first start.
  for (const name of ['one', 'two']) await makeService(name)
})
afterEach(async () => {
  await server.close()
  await folder.remove()
})

const makeService = (name: string) => call(`${server.url}/v1/services`, { token: server.adminToken, json: { type: 'web_service', name } })

const run = (argv: string[], options: TerminalOptions = {}) =>
  cpctl(argv, {
    ...options,
    env: {
      HOME: folder.path,
      XDG_CONFIG_HOME: join(folder.path, 'config'),
      CPCTL_URL: server.url,
      CPCTL_TOKEN: server.adminToken,
      ...options.env,
    },
  })

const exportTo = async (name: string): Promise<string> => {
  const file = join(folder.path, name)
  expect((await run(['audit', 'export', file])).exitCode).toBe(0)
  return file
}

/** Whoever can write the database file may do this. */
function tamper(sql: string): void {
  server.db.run('DROP TRIGGER IF EXISTS audit_log_stays')
  server.db.run('DROP TRIGGER IF EXISTS audit_log_is_final')
  server.db.run(sql)
}

const idAt = (sequence: number): string =>
  server.db.query<{ id: string }, [number]>('SELECT id FROM audit_log WHERE seq = ?').get(sequence)?.id ?? ''

async function lines(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).trimEnd().split('\n')
}

describe('audit list', () => {
  test('shows entries as a table, newest first', async () => {
    const { stdout, exitCode } = await run(['audit', 'list'], { columns: 200 })
    expect(exitCode).toBe(0)
    expect(stdout.split('\n')[0]).toMatch(/^TIME +EVENT +ACTOR +TARGET +FROM +DETAILS$/)
    expect(
      stdout
        .split('\n')
        .slice(1, 3)
        .every((line) => / service\.created +static_token +(one|two) \(srv-\S+\) +\S+ +type=web_service name=\1$/.test(line)),
    ).toBe(true)
  })

  test('filters by event, actor and time, and gives the JSON of the API', async () => {
    const ask = async (...argv: string[]) =>
      (JSON.parse((await run(['audit', 'list', '--json', ...argv])).stdout) as { auditLog: AuditEntry }[]).map(
        ({ auditLog }) => auditLog.sequence,
      )
    expect(await ask('--event', 'service.created')).toEqual([3, 2])
    expect(await ask('--event', 'service.deleted')).toEqual([])
    expect(await ask('--actor', 'static_token,nobody@example.com', '-n', '2')).toEqual([3, 2])
    expect(await ask('--since', '1h')).toEqual([3, 2, 1])
    expect(await ask('--until', '1h')).toEqual([])
  })
})

test('audit follow shows what is written from then on', async () => {
  const stop = new AbortController()
  let seen = ''
  const following = run(['audit', 'follow', '--json'], { interrupted: stop.signal, onOutput: (text) => (seen += text) })
  const made: string[] = []
  await until('an entry is shown', async () => {
    const name = `followed-${made.length}`
    made.push(name)
    await makeService(name)
    return seen.includes('service.created')
  })
  stop.abort(new Interrupted())
  await following
  const shown = seen
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as AuditEntry).sequence)
  expect(shown).toEqual(shown.map((_, index) => (shown[0] ?? 0) + index))
  expect(shown[0]).toBeGreaterThan(3)
})

describe('audit verify', () => {
  test('says that the log is intact, online and offline, and of a key not known before to compare it', async () => {
    const file = await exportTo('log.ndjson')
    const offline = await run(['audit', 'verify', file])
    expect(offline).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('intact: 3 entries, the last is 3') })
    expect(offline.stderr).toContain('--public-key')
    const online = await run(['audit', 'verify'])
    expect(online).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('intact: 3 entries') })
    expect((await run(['audit', 'verify', file])).stderr).toBe('')
  })

  test('names a changed entry, online and offline, and exits with 1', async () => {
    tamper("UPDATE audit_log SET target = 'srv-elsewhere' WHERE seq = 2")
    const file = await exportTo('log.ndjson')
    for (const argv of [[], [file]]) {
      const { exitCode, stderr } = await run(['audit', 'verify', ...argv])
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(`Entry 2 (${idAt(2)}) was changed`) })
    }
    const { exitCode, stdout } = await run(['audit', 'verify', '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ isIntact: false, fault: { kind: 'changed', sequence: 2, id: idAt(2) } })
  })

  test('notices a line of an export that was edited, removed, moved, doubled or made up, and an export without its end', async () => {
    const file = await exportTo('log.ndjson')
    const [chain = '', one = '', two = '', three = '', end = ''] = await lines(file)
    const attacks: [string[], string, number][] = [
      [[chain, one, two.replace('service.created', 'service.deleted'), three, end], 'changed', 2],
      [[chain, one, two.replace('"metadata":{', '"note":"x","metadata":{'), three, end], 'malformed', 2],
      [[chain, one, three, end], 'removed', 2],
      [[chain, one, three, two, end], 'swapped', 3],
      [[chain, one, one, two, three, end], 'inserted', 1],
      [[chain, one, 'not JSON', two, three, end], 'malformed', 2],
      [[chain, one, two, end], 'cut', 3],
      [[chain, one, two, three], 'cut', 4],
      [[chain, one, two, three, end, three], 'malformed', 4],
    ]
    for (const [content, kind, sequence] of attacks) {
      await writeFile(file, `${content.join('\n')}\n`)
      const { exitCode, stdout } = await run(['audit', 'verify', file, '--json'])
      expect({ exitCode, kind, fault: JSON.parse(stdout).fault }).toMatchObject({ exitCode: 1, fault: { kind, sequence } })
    }
  })

  test('notices a log that was put back to an older whole state', async () => {
    const { db } = server
    const before = db.query<{ hash: string; signature: string }, []>('SELECT hash, signature FROM audit_heads').get()
    await makeService('four')
    await run(['audit', 'verify'])
    tamper('DELETE FROM audit_log WHERE seq = 4')
    db.query('UPDATE audit_heads SET seq = 3, hash = ?, signature = ?, created_at = (SELECT created_at FROM audit_log WHERE seq = 3)').run(
      before?.hash ?? '',
      before?.signature ?? '',
    )
    const short = await run(['audit', 'verify', '--json'])
    expect({ exitCode: short.exitCode, ...JSON.parse(short.stdout).fault }).toMatchObject({
      exitCode: 1,
      kind: 'unlike_before',
      sequence: 4,
    })
    await makeService('another four')
    const other = await run(['audit', 'verify', '--json'])
    expect({ exitCode: other.exitCode, ...JSON.parse(other.stdout).fault }).toMatchObject({
      exitCode: 1,
      kind: 'unlike_before',
      sequence: 4,
    })
  })

  test('holds the log against an earlier export', async () => {
    const earlier = await exportTo('earlier.ndjson')
    await makeService('four')
    const later = await exportTo('later.ndjson')
    for (const argv of [[], [later]]) expect((await run(['audit', 'verify', ...argv, '--against', earlier])).exitCode).toBe(0)
    const { exitCode, stderr } = await run(['audit', 'verify', earlier, '--against', later])
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('Entry 4 is not the one that was there before') })
  })

  test('notices another key, by the one of the first verification or the one given', async () => {
    await run(['audit', 'verify'])
    const strange = openAuditSigner(join(folder.path, 'strange.key')).publicKey
    const given = await run(['audit', 'verify', '--public-key', strange, '--json'])
    expect({ exitCode: given.exitCode, ...JSON.parse(given.stdout).fault }).toMatchObject({ exitCode: 1, kind: 'other_key', sequence: 1 })
    const file = await exportTo('log.ndjson')
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(server.context.audit.publicKey, strange))
    const pinned = await run(['audit', 'verify', file, '--json'])
    expect(JSON.parse(pinned.stdout)).toMatchObject({ isIntact: true, keyFrom: 'witness', publicKey: server.context.audit.publicKey })
  })

  test('says what is no export, no file and no key', async () => {
    const file = join(folder.path, 'other.txt')
    await writeFile(file, 'hello\n')
    expect((await run(['audit', 'verify', file])).stderr).toContain('is not an export of an audit log')
    expect((await run(['audit', 'verify', join(folder.path, 'none')])).stderr).toContain('There is no file')
    expect((await run(['audit', 'verify', '--public-key', 'short'])).stderr).toContain('is no public key')
  })
})

test('audit list names projects and environments', async () => {
  const { environmentIds } = await makeProject(server, [{ name: 'production' }])
  await call(`${server.url}/v1/environments/${environmentIds[0]}`, {
    method: 'PATCH',
    json: { networkIsolationEnabled: true },
    token: server.adminToken,
  })
  const { stdout } = await run(['audit', 'list', '-n', '2'], { columns: 200 })
  expect(stdout).toMatch(/environment\.updated +static_token +production \(evm-\S+\).*networkIsolationEnabled: false → true/)
  expect(stdout).toMatch(/project\.created +static_token +project \d+ \(prj-\S+\)/)
})
