import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nodeHeadersEnv } from '../../../../server/builders/toolchains/node-headers.ts'

let prefix: string
beforeEach(async () => {
  prefix = await mkdtemp(join(tmpdir(), 'headers-'))
  for (const name of ['node', 'npm']) await place(`bin/${name}`, '')
})
afterEach(() => rm(prefix, { recursive: true, force: true }))

async function place(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(prefix, path)), { recursive: true })
  await writeFile(join(prefix, path), text)
}

const header = (major: number, minor: number, patch: number): string =>
  `#define NODE_MAJOR_VERSION ${major}\n#define NODE_MINOR_VERSION ${minor}\n#define NODE_PATCH_VERSION ${patch}\n`

const env = () => {
  const tool = { directory: join(prefix, 'bin'), env: {}, readOnlyBinds: [] }
  return nodeHeadersEnv({ node: { ...tool, version: '22.1.3' }, npm: tool })
}

test('headers of the very version are told to node-gyp, by the name that the npm hands on', async () => {
  await place('include/node/node_version.h', header(22, 1, 3))
  expect(await env()).toEqual({ npm_package_config_node_gyp_nodedir: prefix })
  await rm(join(prefix, 'bin/npm'))
  await place('lib/npm/bin/npm-cli.js', '')
  await symlink(join(prefix, 'lib/npm/bin/npm-cli.js'), join(prefix, 'bin/npm'))
  for (const [version, name] of [
    ['10.9.2', 'npm_config_nodedir'],
    ['11.0.0', 'npm_package_config_node_gyp_nodedir'],
  ] as const) {
    await place('lib/npm/package.json', JSON.stringify({ name: 'npm', version }))
    expect(await env()).toEqual({ [name]: prefix })
  }
})

test('without headers, or with those of another version, it fetches them', async () => {
  expect(await env()).toEqual({})
  await place('include/node/node_version.h', header(22, 1, 2))
  expect(await env()).toEqual({})
})
