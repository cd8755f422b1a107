import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findLink, parseLink } from '../../cli/linking/file.ts'
import { sourceFiles } from '../../cli/source/files.ts'
import { blogStaging, production, servingPlaces, staging } from './places.ts'
import { serverPerTest } from './server-per-test.ts'
import { type TerminalOptions, temporaryFolder } from './terminal.ts'

const { on: serving } = serverPerTest()

let home: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  home = await temporaryFolder()
  await mkdir(join(home.path, 'code/web/src'), { recursive: true })
})
afterEach(() => home.remove())

const inHome = (...parts: string[]) => join(home.path, ...parts)
const link = { project: 'shop', environment: 'staging', environmentId: staging.id }
const written = JSON.stringify(link)
const on = (folder: string, options: TerminalOptions = {}) =>
  serving(servingPlaces(), { cwd: inHome(folder), ...options, env: { HOME: home.path } })

describe('cpctl link', () => {
  test('writes where a folder belongs, shows it from below, and removes it', async () => {
    expect((await on('code/web')('link', 'shop/staging')).stdout).toBe('Linked this folder to shop/staging.\n')
    expect(JSON.parse(await readFile(inHome('code/web/.cpd.json'), 'utf8'))).toEqual(link)
    const below = on('code/web/src')
    expect((await below('link', '--show')).stdout).toBe(`shop/staging (${staging.id}), by ${inHome('code/web/.cpd.json')}\n`)
    expect(JSON.parse((await below('link', '--show', '--json')).stdout)).toEqual({ path: inHome('code/web/.cpd.json'), ...link })
    expect((await below('link', '--remove')).stdout).toContain('the folder is linked no longer')
    expect((await below('link', '--show')).stderr).toContain('linked to no environment')
    expect((await below('link', '--show', '--json')).stdout).toBe('null\n')
  })

  test('asks which on a terminal, and says how to name it elsewhere', async () => {
    const { exitCode, stderr } = await on('code/web', { typed: ['blog/staging'] })('link')
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('  shop/production\n') })
    expect(JSON.parse(await readFile(inHome('code/web/.cpd.json'), 'utf8')).environmentId).toBe(blogStaging.id)
    expect(await on('code/web')('link')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cpctl link shop/staging') })
    expect((await on('code/web')('link', 'shop/staging', '--show')).exitCode).toBe(2)
  })

  test('follows renamed environments, and tells of one that is gone', async () => {
    await writeFile(
      inHome('code/web/.cpd.json'),
      JSON.stringify({ ...link, project: 'old', environment: 'names', environmentId: production.id }),
    )
    expect((await on('code/web')('link', '--show')).stdout).toContain('shop/production (')
    await writeFile(inHome('code/web/.cpd.json'), JSON.stringify({ ...link, environmentId: 'evm-9b1c2d3e4f5g6h7i8j9k' }))
    expect(await on('code/web')('link', '--show')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cpctl link --remove') })
  })

  test('gives what was left out of a command its environment', async () => {
    await writeFile(inHome('code/web/.cpd.json'), written)
    expect(JSON.parse((await on('code/web')('environments', 'show', '--json')).stdout)).toEqual(staging)
    expect((await on('code')('environments', 'show')).stderr).toContain('this folder is linked to none')
  })
})

describe('a link', () => {
  const found = async (folder: string) => (await findLink(inHome(folder), home.path))?.path
  const put = (...folders: string[]) => writeFile(inHome(...folders, '.cpd.json'), written)

  test('is looked for up to the home directory and not beyond', async () => {
    await put('.')
    expect(await found('code/web/src')).toBe(inHome('.cpd.json'))
    expect(await findLink(inHome('code/web/src'), inHome('code'))).toBeUndefined()
  })

  test('is looked for up to the root of the repository and not beyond', async () => {
    await put('code')
    await mkdir(inHome('code/web/.git'))
    expect(await found('code/web/src')).toBeUndefined()
    await put('code/web')
    expect(await found('code/web/src')).toBe(inHome('code/web/.cpd.json'))
  })

  test('outside of both holds for its own folder alone', async () => {
    await put('code/web')
    expect(await findLink(inHome('code/web/src'), '/nonexistent')).toBeUndefined()
    expect((await findLink(inHome('code/web'), '/nonexistent'))?.environmentId).toBe(staging.id)
  })

  test('that is not what cpctl writes is refused', async () => {
    for (const text of [
      '',
      'null',
      '[]',
      '{"url": "https://evil.example"}',
      JSON.stringify({ ...link, url: 'https://evil.example' }),
      JSON.stringify({ ...link, environmentId: 'srv-0b1c2d3e4f5g6h7i8j9k' }),
      JSON.stringify({ ...link, project: 'x'.repeat(64) }),
      JSON.stringify({ project: 'shop', environment: 'staging' }),
    ])
      expect(() => parseLink(text, '/x/.cpd.json')).toThrow('/x/.cpd.json is no link of cpctl.')
  })

  test('that is no plain file, or too large, hangs and leads nowhere', async () => {
    await put('.')
    await symlink(inHome('.cpd.json'), inHome('code/.cpd.json'))
    await expect(found('code')).rejects.toThrow('is no link')
    Bun.spawnSync(['mkfifo', inHome('code/web/.cpd.json')])
    await expect(found('code/web')).rejects.toThrow('is no link')
    await writeFile(inHome('code/web/src/.cpd.json'), `${written}${' '.repeat(5000)}`)
    await expect(found('code/web/src')).rejects.toThrow('is no link')
  })

  test('is no part of the source', async () => {
    await put('code/web')
    await put('code/web/src')
    await writeFile(inHome('code/web/src/index.ts'), '')
    expect((await sourceFiles(inHome('code/web'))).map(({ path }) => path)).toEqual(['src/index.ts'])
  })
})
