/**
 * Looks for a newer uv on PyPI, and writes down its hash for each processor and the releases of Python that it can fetch. What comes of it is to
 * be looked at, tested and committed by a person.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isPython } from '../server/builders/toolchains/python-specifiers.ts'
import { run } from './programs/run.ts'

const FILE = join(import.meta.dirname, '../server/builders/toolchains/uv/pin.ts')
const INDEX = (process.env.PIP_INDEX_URL ?? 'https://pypi.org/simple').replace(/\/+$/, '')

interface Page {
  versions: string[]
  files: { filename: string; url: string; hashes: { sha256: string } }[]
}

const response = await fetch(`${INDEX}/uv/`, { headers: { accept: 'application/vnd.pypi.simple.v1+json' } })
const page = (await response.json()) as Page
const version = page.versions
  .filter((one) => /^\d+\.\d+\.\d+$/.test(one))
  .sort(Bun.semver.order)
  .at(-1)

function wheelFor(processor: string): Page['files'][number] {
  const found = page.files.find(({ filename }) => filename.startsWith(`uv-${version}-py3-none-manylinux_2_17_${processor}`))
  if (found === undefined) throw new Error(`There is no wheel of uv ${version} for ${processor}.`)
  return found
}

const pinned = (processor: string) => `{
      file: '${wheelFor(processor).filename}',
      sha256: '${wheelFor(processor).hashes.sha256}',
    }`

const folder = mkdtempSync(join(tmpdir(), 'cpd-uv-'))
try {
  const own = wheelFor(process.arch === 'arm64' ? 'aarch64' : 'x86_64')
  const bytes = new Uint8Array(await (await fetch(new URL(own.url, `${INDEX}/uv/`))).arrayBuffer())
  if (createHash('sha256').update(bytes).digest('hex') !== own.hashes.sha256) throw new Error(`${own.filename} is not what the index says.`)
  writeFileSync(join(folder, own.filename), bytes)
  run(['python3', '-m', 'zipfile', '-e', join(folder, own.filename), folder])
  const uv = join(folder, `uv-${version}.data/scripts/uv`)
  run(['chmod', '+x', uv])
  const listed = JSON.parse(run([uv, 'python', 'list', '--only-downloads', '--all-versions', '--output-format', 'json'])) as {
    version: string
    implementation: string
    variant: string
  }[]
  const releases = listed.filter((one) => one.implementation === 'cpython' && one.variant === 'default').map((one) => one.version)
  const pythons = [...new Set(releases)].filter((one) => /^\d+\.\d+\.\d+$/.test(one) && isPython(one, '>=3.8'))
  writeFileSync(
    FILE,
    `/** The uv that installs packages of Python, and the releases of Python that it fetches; written by .scripts/update-uv.ts. */
export const uvPin = {
  version: '${version}',
  wheels: {
    x64: ${pinned('x86_64')},
    arm64: ${pinned('aarch64')},
  },
  pythons: '${pythons.join(' ')}'.split(' '),
}
`,
  )
  console.log(`uv ${version}, ${pythons.length} releases of Python`)
} finally {
  rmSync(folder, { recursive: true })
}
