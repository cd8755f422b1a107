import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dropRole } from '../../../../server/apps/postgres/credentials/plan.ts'
import { formatOf, HEAD_BYTES } from '../../../../server/apps/transfers/tools/format.ts'
import { IMPORT_SCRIPT } from '../../../../server/apps/transfers/tools/import-script.ts'
import { reasonOf } from '../../../../server/apps/transfers/tools/outcome.ts'
import { openRelay, type Relay } from '../../../../server/apps/transfers/tools/relay.ts'
import { makeRoleSql, toolRoles } from '../../../../server/apps/transfers/tools/roles.ts'
import { WORDS_PROGRAM } from '../../../../server/apps/transfers/tools/words-program.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { asNobody, isRoot, NOBODY, type PostgresServer, startPostgres } from '../../../support/source-postgres.ts'

const own = { id: 'dpg-1', databaseName: 'shop', databaseUser: 'shop_user' }
const dir = mkdtempSync(join(tmpdir(), 'transfers-'))
const folder = (name: string): string => {
  const path = join(dir, name)
  mkdirSync(path, { recursive: true })
  if (isRoot) chownSync(path, NOBODY, NOBODY)
  return path
}
const canary = join(dir, 'canary')
let server: PostgresServer
let relay: Relay

beforeAll(async () => {
  await chmod(dir, 0o755)
  server = await startPostgres()
  await server.sql.unsafe(`CREATE ROLE shop_user LOGIN PASSWORD 'pw'`)
  await server.sql.unsafe('CREATE DATABASE shop OWNER shop_user')
  await server.sql.unsafe(makeRoleSql({ kind: 'import', own }, 'word'))
  relay = await openRelay(folder('material/target'), { uid: NOBODY, open: async () => connect(server.port, '127.0.0.1') })
  writeFileSync(join(folder('secrets'), 'password'), 'word')
}, 60_000)
afterAll(async () => {
  relay.close()
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Imports a dump as the sandbox would have it done, without its walls. */
async function imported(content: string | Uint8Array, env: Record<string, string> = {}) {
  writeFileSync(join(dir, 'material/dump'), content, { mode: 0o444 })
  const { exitCode, stdout, stderr } = await runProcess([...asNobody, '/bin/sh', '-c', IMPORT_SCRIPT], {
    cwd: '/',
    env: {
      ...{ PATH: `${join(server.programs, 'bin')}:/usr/bin:/bin`, HOME: folder('home'), LC_ALL: 'C' },
      ...{ CPD_MATERIAL: join(dir, 'material'), CPD_SECRETS: join(dir, 'secrets'), CPD_WORDS: WORDS_PROGRAM, CPD_WORD: 'unguessable' },
      ...{ CPD_TARGET_USER: toolRoles.import, CPD_TARGET_DATABASE: 'shop', CPD_TARGET: "dbname='shop'" },
      CPD_FORMAT: formatOf(Buffer.from(content as Uint8Array).subarray(0, HEAD_BYTES)) ?? 'none',
      ...env,
    },
  })
  return { isDone: exitCode === 0, words: stdout + stderr }
}

const tables = async () => {
  const query = "SELECT relname || ' of ' || pg_get_userbyid(relowner) AS named FROM pg_class WHERE relname LIKE 'half%' ORDER BY 1"
  const target = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'shop_user', '-d', 'shop', '-Atc', query]
  const { stdout } = await runProcess([join(server.programs, 'bin/psql'), ...target], { env: { PGPASSWORD: 'pw' } })
  return stdout.trim()
}

async function asSuperuser(sql: string): Promise<void> {
  const target = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'cpd_admin', '-d', 'shop', '-v', 'ON_ERROR_STOP=1', '-c', sql]
  expect(await runProcess([join(server.programs, 'bin/psql'), ...target], { env: { PGPASSWORD: server.password } })).toMatchObject({
    exitCode: 0,
  })
}

describe('SQL that somebody hostile wrote', () => {
  it.each([
    ['a command of the shell', `CREATE TABLE half (i int);\n\\! touch ${canary}\n`, /commands of psql/],
    ['a command at the end of a line', `CREATE TABLE half (i int);\nSELECT 1 \\g |touch ${canary}\n`, /commands of psql/],
    [
      'a command in data that has ended',
      `CREATE TABLE half (i int);\nCOPY half FROM stdin;\n1\n\\.\n\\! touch ${canary}\n`,
      /commands of psql/,
    ],
    ['another connection', 'CREATE TABLE half (i int);\n\\connect postgres\n', /commands of psql/],
    ['an end of the restriction', `CREATE TABLE half (i int);\n\\unrestrict guess\n\\! touch ${canary}\n`, /./],
    [
      'a restriction and an end of its own',
      `\\restrict own\nCREATE TABLE half (i int);\n\\unrestrict own\n\\! touch ${canary}\n`,
      /commands of psql/,
    ],
    ['a program', `CREATE TABLE half (i int);\nCOPY half FROM PROGRAM 'touch ${canary}';\n`, /permission denied/],
    ['a file of the server', "CREATE TABLE half (t text);\nCOPY half FROM '/etc/passwd';\n", /permission denied/],
    ['more rights', 'CREATE TABLE half (i int);\nALTER ROLE shop_user SUPERUSER;\n', /permission denied/],
    ['another role', 'CREATE TABLE half (i int);\nSET SESSION AUTHORIZATION cpd_admin;\n', /permission denied/],
    ['a mistake', 'CREATE TABLE half (i int);\nnonsense;\n', /syntax error/],
    ['a former owner', 'CREATE TABLE half (i int);\nALTER TABLE half OWNER TO heroku;\n', /--no-owner/],
    ['no end', '-- PostgreSQL database dump\nCREATE TABLE half (i int);\n', /ends before its end/],
  ])('with %s is refused, and nothing of it is in', async (_, file, reason) => {
    const { isDone, words } = await imported(file)
    expect({ isDone, reason: reasonOf(words) }).toEqual({ isDone: false, reason: expect.stringMatching(reason) })
    expect(await tables()).toBe('')
    expect(existsSync(canary)).toBe(false)
  })
})

it('an archive that is none, is newer, or leaves its folder is refused', async () => {
  expect(reasonOf((await imported(`PGDMP\x01\x63\x00${'x'.repeat(600)}`)).words)).toMatch(/newer pg_dump/)
  expect(reasonOf((await imported('PGDMP')).words)).toMatch(/damaged/)
  const tar = folder('tar')
  writeFileSync(join(tar, 'something'), 'else')
  const archive = join(dir, 'some.tar')
  await runProcess(['tar', '-cf', archive, '-C', tar, '.'])
  expect(reasonOf((await imported(await Bun.file(archive).bytes())).words)).toMatch(/holds no dump/)
})

it('what is made belongs to the first user, whatever role the dump takes', async () => {
  const sql = `CREATE TABLE half_one (i int);\nCREATE EXTENSION IF NOT EXISTS plpgsql;\nCOMMENT ON EXTENSION plpgsql IS 'x';
    RESET ROLE;\nCREATE TABLE half_two (i int);\nSET ROLE NONE;\nCREATE TABLE half_three (i int);\n`
  expect(await imported(sql)).toMatchObject({ isDone: true })
  await asSuperuser(dropRole(toolRoles.import, 'shop_user'))
  expect((await tables()).split('\n')).toEqual(['half_one of shop_user', 'half_three of shop_user', 'half_two of shop_user'])
})
