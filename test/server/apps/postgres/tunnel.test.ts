import { connect } from 'node:net'
import { join } from 'node:path'
import { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTunnel, type Tunnel } from '../../../../cli/postgres/tunnel.ts'
import { createGate } from '../../../../server/apps/postgres/tunnel/gate.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { cpctl, type TerminalOptions } from '../../../cli/terminal.ts'
import { addLiveDatabase, tenant } from '../../../support/live-database.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type PostgresServer, startPostgresServer } from '../../../support/postgres-server.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { until } from '../../../support/until.ts'

describe('the gate before a database', () => {
  const startup = (parameters: Record<string, string>): Buffer => {
    const body = Buffer.from(`${Object.entries(parameters).flat().join('\0')}\0\0`)
    const head = Buffer.alloc(8)
    head.writeInt32BE(body.length + 8, 0)
    head.writeInt32BE(196_608, 4)
    return Buffer.concat([head, body])
  }
  const request = (code: number) => {
    const packet = Buffer.alloc(8)
    packet.writeInt32BE(8, 0)
    packet.writeInt32BE(code, 4)
    return packet
  }

  it('lets a user through, byte by byte too, and looks at nothing behind it', () => {
    const gate = createGate()
    const bytes = startup({ user: 'app_user', database: 'app' })
    for (const byte of bytes.subarray(0, -1)) expect(gate.take(Uint8Array.of(byte))).toEqual({})
    expect(gate.take(bytes.subarray(-1))).toEqual({ forward: bytes })
    const more = startup({ user: 'cpd_admin' })
    expect(gate.take(more)).toEqual({ forward: more })
  })

  it('refuses the platform’s roles, replication, and what is no beginning', () => {
    for (const parameters of [{ user: 'cpd_admin' }, { user: 'cpd_backup' }, { user: 'app_user', replication: 'true' }])
      expect(createGate().take(startup(parameters))).toEqual({ refusal: expect.any(String), answer: expect.any(Buffer) })
    expect(createGate().take(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toEqual({ refusal: expect.any(String) })
  })

  it('tells that the tunnel is encrypted as it is, twice at most', () => {
    const gate = createGate()
    expect(gate.take(request(80_877_104))).toEqual({ answer: Uint8Array.of(78) })
    expect(gate.take(request(80_877_103))).toEqual({ answer: Uint8Array.of(78) })
    expect(gate.take(request(80_877_103))).toEqual({ refusal: expect.any(String) })
    expect(createGate().take(Buffer.concat([request(80_877_103), startup({ user: 'app_user' })]))).toEqual({ refusal: expect.any(String) })
  })
})

describe('a tunnel to a database', () => {
  let server: TestServer
  let postgres: PostgresServer
  let tunnel: Tunnel
  let id: string
  const problems: string[] = []

  beforeAll(async () => {
    postgres = await startPostgresServer('shared_preload_libraries=pg_stat_statements')
    server = await startTestServer()
    id = await addLiveDatabase(server, await defaultWorkspaceId(server), postgres)
    const target = async () => ({ url: server.url, headers: { authorization: `Bearer ${server.adminToken}` } })
    tunnel = await openTunnel({ client: { target } as never }, { postgresId: id, port: 0, onProblem: (reason) => problems.push(reason) })
  }, 60_000)
  afterAll(async () => {
    tunnel.close()
    await server.close()
    await postgres.stop()
  })

  const sqlAs = (user: string, password: string) =>
    new SQL({
      adapter: 'postgres',
      hostname: '127.0.0.1',
      port: tunnel.port,
      username: user,
      password,
      database: tenant.database,
      max: 1,
      tls: false,
    })

  it('carries much both ways, as it was', async () => {
    const sql = sqlAs(tenant.user, tenant.password)
    const text = 'ä'.repeat(6_000_000)
    await sql`CREATE TABLE large (text text)`
    await sql`INSERT INTO large VALUES (${text})`
    const [row] = await sql`SELECT text FROM large`
    expect(row.text === text).toBe(true)
    await sql.close()
  }, 60_000)

  it('lets no role of the platform’s through', async () => {
    await expect(sqlAs('cpd_admin', 'pw').connect()).rejects.toThrow('kept for the server and the platform')
    await until('it is told', () => problems.some((reason) => reason.includes('kept for')))
  })

  it('is what cpctl types SQL through, with psql or without', async () => {
    const run = (argv: string[], options: TerminalOptions = {}) =>
      cpctl(['postgres', 'psql', id, '--built-in', ...argv], { ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: server.adminToken } })
    const all = await run([
      '-c',
      'CREATE TABLE words (word text); INSERT INTO words VALUES (NULL), ($$one$$); SELECT * FROM words ORDER BY 1',
    ])
    expect(all).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^CREATE.*\nINSERT.* 2\nword\none\n\n\(2 rows\)\n$/) })
    expect(JSON.parse((await run(['-c', 'SELECT word FROM words ORDER BY 1', '--json'])).stdout)).toEqual([{ word: 'one' }, { word: null }])
    expect((await run(['-c', '\\dt'])).stdout).toMatch(/public +words +app_user/)
    expect((await run([], { stdin: 'SELECT 40 + 2 AS answer' })).stdout).toContain('42')
    expect((await run(['-c', 'SELECT 1 AS "\u001b]0;owned\u0007"'])).stdout).not.toContain('\u001b')
    expect(await run(['-c', 'SELECT nothing'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('does not exist') })

    const { stdout, stderr } = await runProcess(
      [
        join(postgres.programs, 'psql'),
        '-h',
        '127.0.0.1',
        '-p',
        String(tunnel.port),
        '-U',
        tenant.user,
        '-Atc',
        'SELECT count(*) FROM words',
        tenant.database,
      ],
      { env: { PGPASSWORD: tenant.password } },
    )
    expect({ stdout, stderr }).toEqual({ stdout: '2\n', stderr: '' })
  })

  it('ends with the database, and is not opened while that does not run', async () => {
    const socket = connect(tunnel.port, '127.0.0.1')
    await until('it is through', () => socket.readyState === 'open')
    server.db.query(`UPDATE datastores SET suspended_by = '["user"]' WHERE id = ?`).run(id)
    await new Promise((resolve) => socket.on('close', resolve).resume())
    expect(problems.at(-1)).toContain('suspended')
  })
})
