import { chmod, link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { requireTool } from '../../../../server/builders/toolchains/tool.ts'
import { findToolchains } from '../../../../server/builders/toolchains/toolchains.ts'

let box: string
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'tools-'))
  await chmod(box, 0o755)
})
afterEach(() => rm(box, { recursive: true, force: true }))

async function program(path: string, text = '#!/bin/sh\nexit 0\n'): Promise<void> {
  await mkdir(dirname(join(box, path)), { recursive: true })
  await writeFile(join(box, path), text, { mode: 0o755 })
}

test('a program in a folder that all may enter needs no bind', async () => {
  await program('opt/go/bin/go')
  const { tools } = await findToolchains({ searchPath: [join(box, 'opt/*/bin')], homes: [] })
  expect(tools.go).toEqual({ directory: join(box, 'opt/go/bin'), env: {}, readOnlyBinds: [] })
  expect(tools.node).toBeUndefined()
})

test('in a private home the default toolchain is found, with the folder to bind', async () => {
  await program('home/.rustup/toolchains/nightly/bin/cargo')
  await program('home/.rustup/toolchains/stable/bin/cargo')
  await writeFile(join(box, 'home/.rustup/settings.toml'), 'version = "12"\ndefault_toolchain = "nightly"\n')
  await chmod(join(box, 'home'), 0o700)
  const { tools } = await findToolchains({ searchPath: [], homes: [join(box, 'home')] })
  const toolchain = join(box, 'home/.rustup/toolchains/nightly')
  expect(tools.cargo).toEqual({ directory: join(toolchain, 'bin'), env: {}, readOnlyBinds: [toolchain] })
})

test('of several versions the chosen one comes first, else the newest', async () => {
  for (const version of ['3.9.1', '3.12.0', '3.10.2']) await program(`home/.pyenv/versions/${version}/bin/python3`)
  const find = () => findToolchains({ searchPath: [], homes: [join(box, 'home')] })
  expect((await find()).tools.python?.directory).toBe(join(box, 'home/.pyenv/versions/3.12.0/bin'))
  await writeFile(join(box, 'home/.pyenv/version'), '3.9.1\n')
  expect((await find()).tools.python?.directory).toBe(join(box, 'home/.pyenv/versions/3.9.1/bin'))
})

test('the shims of pyenv and rustup are passed over', async () => {
  await program('home/.pyenv/shims/python3')
  await program('cargo/bin/rustup')
  await symlink('rustup', join(box, 'cargo/bin/cargo'))
  await program('hard/bin/rustup')
  await link(join(box, 'hard/bin/rustup'), join(box, 'hard/bin/cargo'))
  const searchPath = ['home/.pyenv/shims', 'cargo/bin', 'hard/bin'].map((folder) => join(box, folder))
  const { tools } = await findToolchains({ searchPath, homes: [] })
  expect(tools).toEqual({})
})

test('a Python that cannot make environments is passed over and told about', async () => {
  await program('bad/python3', '#!/bin/sh\nexit 1\n')
  const toolchains = await findToolchains({ searchPath: [join(box, 'bad')], homes: [] })
  expect(() => requireTool(toolchains, 'python')).toThrow('lacks venv; Debian: apt install python3-venv')
  await program('good/python3')
  expect((await findToolchains({ searchPath: [join(box, 'bad'), join(box, 'good')], homes: [] })).tools.python?.directory).toBe(
    join(box, 'good'),
  )
})

test('our own executable is Bun only where there is no other', async () => {
  await mkdir(join(box, 'self'))
  const self = { homes: [], selfToolchainDir: join(box, 'self') }
  expect((await findToolchains({ searchPath: [], ...self })).tools.bun).toEqual({
    directory: join(box, 'self'),
    version: Bun.version,
    isOurs: true,
    env: { BUN_BE_BUN: '1' },
    readOnlyBinds: [],
  })
  await program('bin/bun')
  expect((await findToolchains({ searchPath: [join(box, 'bin')], ...self })).tools.bun?.directory).toBe(join(box, 'bin'))
})

test('what is missing is named with the way to get it', () => {
  expect(() => requireTool({ tools: {}, problems: {} }, 'cargo')).toThrow(
    'Rust is not installed on this server: ask its operator to install it (https://rustup.rs, or Debian: apt install cargo)',
  )
})
