import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CliError } from '../../cli/base/error.ts'
import { excessOf, remedyFor } from '../../cli/deploying/fit.ts'
import { detectType, type PackageJson, typeOf } from '../../cli/source/detect.ts'
import { type SourceFile, sourceFiles } from '../../cli/source/files.ts'
import { packSource } from '../../cli/source/pack.ts'
import { dotenvFiles } from '../../cli/source/secrets.ts'
import { temporaryFolder } from './terminal.ts'

let folder: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(() => folder.remove())

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const absolute = join(folder.path, path)
    await mkdir(dirname(absolute), { recursive: true })
    await writeFile(absolute, content)
  }
}

const paths = async (below = '.') => (await sourceFiles(join(folder.path, below))).map(({ path }) => path)

describe('what is part of a source', () => {
  test('history and installed packages never are', async () => {
    await write({
      '.git/config': '',
      'node_modules/a/index.js': '',
      'web/node_modules/b.js': '',
      'web/app.js': '',
      '.venv/x': '',
      'venv/bin/python': '',
      'a.py': '',
      '__pycache__/a.pyc': '',
    })
    expect(await paths()).toEqual(['a.py', 'web/app.js'])
  })

  test('.gitignore files apply to their folder and below, the deeper winning', async () => {
    await write({
      '.gitignore': '*.log\n/dist\nsecret/\n',
      'a.log': '',
      'dist/x': '',
      'sub/dist/x': '',
      'sub/.gitignore': '!keep.log\n*.tmp\n',
      'sub/keep.log': '',
      'sub/other.log': '',
      'sub/a.tmp': '',
      'a.tmp': '',
      'secret/key': '',
    })
    expect(await paths()).toEqual(['.gitignore', 'a.tmp', 'sub/.gitignore', 'sub/dist/x', 'sub/keep.log'])
  })

  test('.cpignore has the last word', async () => {
    await write({
      '.gitignore': 'dist/\n',
      '.cpignore': '!dist/\ndocs/\n*.md\n',
      'dist/index.html': '',
      'docs/a': '',
      'README.md': '',
      'a.js': '',
    })
    expect(await paths()).toEqual(['.cpignore', '.gitignore', 'a.js', 'dist/index.html'])
  })

  test('patterns of the repository above apply to a folder in it', async () => {
    await write({
      '.git/HEAD': '',
      '.gitignore': '*.log\n/apps/web/out\n',
      'apps/web/a.log': '',
      'apps/web/out/x': '',
      'apps/web/a.js': '',
    })
    expect(await paths('apps/web')).toEqual(['a.js'])
  })

  test('links stay links, and one that leads out is refused', async () => {
    await write({ 'a/real.txt': 'x' })
    await symlink('a/real.txt', join(folder.path, 'inside'))
    await symlink(join(folder.path, 'a'), join(folder.path, 'absolute'))
    const files = await sourceFiles(folder.path)
    expect(files.flatMap((file) => (file.kind === 'link' ? [[file.path, file.target]] : []))).toEqual([
      ['absolute', 'a'],
      ['inside', 'a/real.txt'],
    ])
    await symlink('../../etc/passwd', join(folder.path, 'a/out'))
    await expect(sourceFiles(folder.path)).rejects.toThrow('The link a/out leads out of the folder, to ../../etc/passwd.')
    await writeFile(join(folder.path, '.cpignore'), 'a/out\n')
    expect(await paths()).toContain('inside')
  })

  test('nothing to deploy, no folder and a file are told apart', async () => {
    await expect(sourceFiles(folder.path)).rejects.toThrow('There is nothing to deploy')
    await expect(sourceFiles(join(folder.path, 'nope'))).rejects.toThrow('There is no folder')
    await write({ file: '' })
    await expect(sourceFiles(join(folder.path, 'file'))).rejects.toThrow('is not a folder')
  })
})

interface Entry {
  name: string
  type: string
  mode: number
  content: string
  linkname: string
}

async function unpack(stream: ReadableStream<Uint8Array>): Promise<Entry[]> {
  const entries: Entry[] = []
  const tar = extract()
  Readable.fromWeb(stream as never)
    .pipe(createGunzip())
    .pipe(tar as never)
  for await (const entry of tar) {
    const { name, type, mode, linkname } = entry.header
    entries.push({ name, type, mode, linkname: linkname ?? '', content: await new Response(entry as never).text() })
  }
  return entries
}

const pack = (files: SourceFile[], onProgress?: (bytes: number) => void) => {
  const errors: CliError[] = []
  const stream = packSource(files, { onError: (error) => errors.push(error), ...(onProgress ? { onProgress } : {}) })
  return { stream, errors }
}

describe('the archive', () => {
  test('holds the files with their content, links and executable bits', async () => {
    const big = 'b'.repeat(3_000_000)
    await write({
      'a.txt': 'hello',
      'bin/run': '#!/bin/sh\n',
      empty: '',
      'big.bin': big,
      [`${'long/'.repeat(30)}name`]: 'deep',
      'ü.txt': 'ü',
    })
    await chmod(join(folder.path, 'bin/run'), 0o755)
    await symlink('a.txt', join(folder.path, 'link'))
    let seen = 0
    const { stream, errors } = pack(await sourceFiles(folder.path), (bytes) => {
      seen += bytes
    })
    const entries = await unpack(stream)
    expect(errors).toEqual([])
    expect(entries.map(({ name, type, mode }) => [name, type, mode.toString(8)])).toEqual([
      ['a.txt', 'file', '644'],
      ['big.bin', 'file', '644'],
      ['bin/run', 'file', '755'],
      ['empty', 'file', '644'],
      ['link', 'symlink', '644'],
      [`${'long/'.repeat(30)}name`, 'file', '644'],
      ['ü.txt', 'file', '644'],
    ])
    expect(entries.find(({ name }) => name === 'big.bin')?.content === big).toBe(true)
    expect(entries.find(({ name }) => name === 'link')?.linkname).toBe('a.txt')
    expect(seen).toBe(3_000_000 + 5 + 10 + 4 + 2)
  })

  test('a file that vanishes or shrinks while it is packed breaks the stream and says so', async () => {
    await write({ 'a.txt': 'hello', 'big.bin': 'b'.repeat(3_000_000) })
    const files = await sourceFiles(folder.path)
    await writeFile(join(folder.path, 'big.bin'), 'b'.repeat(2_000_000))
    const { stream, errors } = pack(files)
    await new Response(stream).bytes().catch(() => undefined)
    expect(errors.map(({ message }) => message)).toEqual(['big.bin became shorter while it was packed.'])
  })

  test('a reader that goes away stops the packing', async () => {
    await write({ 'big.bin': 'b'.repeat(30_000_000) })
    const { stream, errors } = pack(await sourceFiles(folder.path))
    const reader = stream.getReader()
    await reader.read()
    await reader.cancel()
    await Bun.sleep(50)
    expect(errors).toEqual([])
  })
})

describe('what a new service is', () => {
  const files = (...names: string[]): SourceFile[] => names.map((path) => ({ kind: 'link', path, target: '', modifiedAt: new Date() }))
  const made = (packageJson: PackageJson) => typeOf(new Set(['package.json', 'index.html']), packageJson)

  test('a page without a program is a static site', async () => {
    expect(await detectType(files('index.html', 'style.css'))).toBe('static_site')
    expect(await detectType(files('index.html', 'package.json'))).toBe('web_service')
    expect(await detectType(files('main.go', 'go.mod'))).toBe('web_service')
    expect(await detectType(files('index.html', 'index.php'))).toBe('web_service')
    expect(await detectType(files('site/index.html', 'package.json'), 'site')).toBe('static_site')
  })

  test('a package.json is read where the source says it stands', async () => {
    await write({ 'web/package.json': '{"scripts":{"build":"vite build"},"devDependencies":{"vite":"7.0.0"}}', 'package.json': 'broken' })
    expect(await detectType(await sourceFiles(folder.path), 'web')).toBe('static_site')
    expect(await detectType(await sourceFiles(folder.path))).toBe('web_service')
  })

  test.each<[string, PackageJson]>([
    ['Vite', { scripts: { build: 'vite build', dev: 'vite' }, devDependencies: { vite: '7' } }],
    ['Astro', { scripts: { build: 'astro build', start: 'astro dev' }, dependencies: { astro: '5' } }],
    [
      'Create React App',
      { scripts: { build: 'react-scripts build', start: 'react-scripts start' }, dependencies: { 'react-scripts': '5' } },
    ],
    [
      'SvelteKit with static pages',
      { scripts: { build: 'vite build' }, devDependencies: { vite: '7', '@sveltejs/kit': '2', '@sveltejs/adapter-static': '3' } },
    ],
  ])('%s makes a site', (_, packageJson) => expect(made(packageJson)).toBe('static_site'))

  test.each<[string, PackageJson]>([
    ['Next.js', { scripts: { build: 'next build', start: 'next start' }, dependencies: { next: '16' } }],
    ['SvelteKit', { scripts: { build: 'vite build' }, devDependencies: { vite: '7', '@sveltejs/kit': '2' } }],
    ['Express beside Vite', { scripts: { build: 'vite build', start: 'node server.js' }, dependencies: { express: '5', vite: '7' } }],
    ['a start script of its own', { scripts: { build: 'vite build', start: 'node server.js' }, devDependencies: { vite: '7' } }],
    ['nothing to build', { dependencies: { vite: '7' } }],
  ])('%s is a program', (_, packageJson) => expect(made(packageJson)).toBe('web_service'))
})

test('variables for local work are told from examples of them', () => {
  const files = ['.env', 'api/.env.production', '.env.example', '.envrc', 'env', 'x.env'].map(
    (path) => ({ kind: 'link', path, target: '', modifiedAt: new Date() }) as const,
  )
  expect(dotenvFiles(files)).toEqual(['.env', 'api/.env.production'])
})

describe('what is more than an upload may be', () => {
  const file = (path: string, sizeBytes: number): SourceFile => ({
    kind: 'file',
    path,
    absolutePath: path,
    sizeBytes,
    isExecutable: false,
    modifiedAt: new Date(),
  })
  const limits = { maxBytes: 1, maxUnpackedBytes: 3 * 1024 * 1024, maxFiles: 7 }

  test('is told before it is sent, with the five largest files', () => {
    const files = [1, 2, 3, 4, 5, 6].map((megabytes) => file(`${megabytes}.bin`, megabytes * 1024 * 1024))
    expect(excessOf(files, limits)).toBe('The folder holds 21.0 MB, and this server takes 3.0 MB at most.')
    expect(
      remedyFor(files)
        .split('\n')
        .slice(1, 6)
        .map((line) => line.trim()),
    ).toEqual(['6.0 MB  6.bin', '5.0 MB  5.bin', '4.0 MB  4.bin', '3.0 MB  3.bin', '2.0 MB  2.bin'])
  })
  test('also when the files are many', () => {
    expect(
      excessOf(
        Array.from({ length: 8 }, (_, number) => file(`${number}`, 1)),
        limits,
      ),
    ).toContain('8 files, and this server takes 7')
    expect(excessOf([file('a', 1)], limits)).toBeUndefined()
  })
})
