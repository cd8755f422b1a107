import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { embedded } from '../../../../server/runtime/programs/embedded.ts'
import { newerOf } from '../../../../server/runtime/programs/newest.ts'
import { isOlder, versionIn } from '../../../../server/runtime/programs/own.ts'
import { openPrograms, type ProgramsOptions } from '../../../../server/runtime/programs/programs.ts'

let dir: string
let problems: string[]
beforeEach(() => {
  problems = []
  dir = mkdtempSync(join(tmpdir(), 'programs-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const folder = () => join(dir, 'engines')

function open(changes: Partial<ProgramsOptions> = {}) {
  mkdirSync(folder(), { recursive: true })
  return openPrograms({
    folder: folder(),
    embedded,
    postgresDirs: [],
    valkey: undefined,
    onProblem: (text) => problems.push(text),
    ...changes,
  })
}

/** A program that says nothing but its version. */
function fake(path: string, says: string): string {
  const file = join(dir, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, `#!/bin/sh\necho '${says}'\n`)
  chmodSync(file, 0o755)
  return file
}

test('what is inside is told without being unpacked, and runs when it is', async () => {
  const programs = await open()
  expect(programs.available('postgres')).toMatchObject([{ version: '18.6', major: '18', source: 'embedded', server: 'bin/postgres' }])
  expect(programs.available('valkey')).toMatchObject([{ version: '9.1.2', major: '9', source: 'embedded' }])
  expect(readdirSync(folder())).toEqual([])
  for (const kind of ['postgres', 'valkey'] as const) {
    const [program] = programs.available(kind)
    const found = await programs.ensure(program?.name ?? '')
    expect(found).toBe(programs.folder(program?.name ?? ''))
    expect((await runProcess([join(found, program?.server ?? ''), '--version'])).stdout).toContain(program?.version)
    expect(existsSync(join(found, 'licences'))).toBe(true)
    expect(statSync(found).mode & 0o7777).toBe(0o755)
  }
})

test('all tools find their libraries beside them', async () => {
  const programs = await open()
  const bin = join(await programs.ensure(programs.available('postgres')[0]?.name ?? ''), 'bin')
  for (const tool of readdirSync(bin))
    expect([tool, await runProcess([join(bin, tool), '--version'])]).toMatchObject([tool, { exitCode: 0 }])
})

test('who ask at once get one unpacking, and whoever asks later the same folder', async () => {
  const programs = await open()
  const { name = '' } = programs.available('valkey')[0] ?? {}
  const [first, second] = await Promise.all([programs.ensure(name), programs.ensure(name)])
  expect(first).toBe(second)
  expect(await (await open()).ensure(name)).toBe(first)
  expect(readdirSync(folder())).toEqual([name])
})

test('what a kill has left, and what an earlier version had inside, goes at the next start', async () => {
  const { name = '' } = (await open()).available('valkey')[0] ?? {}
  mkdirSync(join(folder(), `${name}.1f2e.new`, 'bin'), { recursive: true })
  mkdirSync(join(folder(), 'postgres-17.1-0123456789ab'))
  await open()
  expect(readdirSync(folder())).toEqual([])
})

test('a version on trial removes nothing of the one that serves', async () => {
  const others = ['postgres-17.1-0123456789ab', 'valkey-8.0-0123456789ab.1f2e.new']
  for (const name of others) mkdirSync(join(folder(), name), { recursive: true })
  await open({ isOnTrial: true })
  expect(readdirSync(folder()).toSorted()).toEqual(others)
})

test('what an earlier version had inside stays while something of it runs', async () => {
  const old = join(folder(), 'valkey-8.0-0123456789ab')
  mkdirSync(old, { recursive: true })
  await runProcess(['/bin/cp', '/bin/sleep', join(old, 'sleep')])
  const running = Bun.spawn([join(old, 'sleep'), '60'])
  try {
    await open()
    expect(existsSync(old)).toBe(true)
  } finally {
    running.kill('SIGKILL')
    await running.exited
  }
  await open()
  expect(existsSync(old)).toBe(false)
})

test('an archive that is damaged is told of, and leaves nothing', async () => {
  const archive = join(dir, 'broken.tar.zst')
  writeFileSync(archive, 'no archive')
  const programs = await open({ embedded: [{ kind: 'valkey', name: 'valkey-9.9-broken', version: '9.9', archive }] })
  await expect(programs.ensure('valkey-9.9-broken')).rejects.toMatchObject({ code: 'unavailable' })
  await expect(programs.ensure('../etc')).rejects.toMatchObject({ code: 'not_found' })
  expect(readdirSync(folder())).toEqual([])
})

test("the operator's own comes before the one inside of the same major version, and beside others", async () => {
  fake('seventeen/bin/postgres', 'postgres (PostgreSQL) 17.2 (Debian 17.2-1)')
  fake('eighteen/bin/postgres', 'postgres (PostgreSQL) 18.1')
  const valkey = fake('kv/redis-server', 'Redis server v=7.4.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64')
  const programs = await open({ postgresDirs: [join(dir, 'seventeen'), join(dir, 'eighteen')], valkey })
  expect(programs.available('postgres')).toMatchObject([
    { version: '18.1', source: 'own' },
    { version: '17.2', source: 'own' },
  ])
  expect(programs.available('valkey')).toMatchObject([{ version: '7.4.1', server: 'redis-server' }])
  expect(await programs.ensure('valkey-7.4.1-own')).toBe(join(dir, 'kv'))
})

test.each([
  ['is not there', 'nowhere', undefined, /there is no/],
  ['is too old', 'old', 'postgres (PostgreSQL) 13.11', /version 13.11. The oldest that can be used is 14.0/],
  ['says nothing of its version', 'mute', 'hello', /does not tell its version/],
])("one of the operator's that %s is told of by its setting, and what is inside is used", async (_, name, says, message) => {
  if (says !== undefined) fake(`${name}/bin/postgres`, says)
  const programs = await open({ postgresDirs: [join(dir, name)] })
  expect(problems).toEqual([expect.stringMatching(message)])
  expect(problems[0]).toMatch(/^CP_POSTGRES_DIR: /)
  expect(programs.available('postgres')).toMatchObject([{ source: 'embedded' }])
})

test('of two folders with one major version the first is used, and the second told of', async () => {
  for (const name of ['one', 'other']) fake(`${name}/bin/postgres`, 'postgres (PostgreSQL) 17.2')
  const programs = await open({ postgresDirs: [join(dir, 'one'), join(dir, 'other')] })
  expect(problems).toEqual([
    `CP_POSTGRES_DIR: ${dir}/other has the major version 17 as ${dir}/one has, which is used. Name one folder for each.`,
  ])
  expect(await programs.ensure('postgres-17.2-own')).toBe(join(dir, 'one'))
})

test('without any inside, what packages of the machine have is offered', async () => {
  const programs = await open({ embedded: [] })
  for (const { source, major } of programs.available('postgres')) expect([source, Number(major) >= 14]).toEqual(['own', true])
  for (const { source } of programs.available('valkey')) expect(source).toBe('own')
})

test('versions are read out of what programs print', () => {
  expect(versionIn('postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)')).toBe('15.18')
  expect(versionIn('Server v=9.1.2 sha=00000000:0 malloc=libc bits=64 build=1')).toBe('9.1.2')
  expect(versionIn('Valkey server v=8.0.1 sha=0')).toBe('8.0.1')
  expect(versionIn('14')).toBeUndefined()
  expect(['7.0.15', '7.2', '7.2.4', '9.1', '10.0'].map((version) => isOlder(version, '7.2'))).toEqual([true, false, false, false, false])
})

test('a release before the newest of its major version is told of', () => {
  expect(newerOf({ kind: 'postgres', major: '15', version: '15.18' })).toBe('15.19')
  expect(newerOf({ kind: 'postgres', major: '18', version: '18.7' })).toBeUndefined()
  expect(newerOf({ kind: 'postgres', major: '19', version: '19.1' })).toBeUndefined()
  expect(newerOf({ kind: 'valkey', major: '9', version: '9.1.0' })).toBe('9.1.2')
})
