import { describe, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import { parsePin } from '../../../../server/builders/detect/manager-pin.ts'
import { nodeNeed } from '../../../../server/builders/detect/toolchain-needs.ts'
import type { Tool } from '../../../../server/builders/toolchains/tool.ts'
import { everyTool, sourceOf } from './source.ts'

const hex = 'ab'.repeat(64)
const pin = { name: 'pnpm', version: '9.1.0', hash: { algorithm: 'sha512', hex } }

describe('packageManager names', () => {
  test.each([
    [`pnpm@9.1.0+sha512.${hex}`, pin],
    ['npm@10.9.0', { name: 'npm', version: '10.9.0' }],
    ['yarn@4.0.0-rc.1', { name: 'yarn', version: '4.0.0-rc.1' }],
    ['bun@1.4.5', undefined],
    ['pnpm@9', undefined],
    ['pnpm@latest', undefined],
    [undefined, undefined],
  ])('by %s %j', (written, expected) => {
    expect(parsePin(written)).toEqual(expected)
  })

  test.each(['sha512.abc', `md5.${'a'.repeat(32)}`, `sha512.${hex.toUpperCase()}`, hex, ''])('no hash by %s, which is refused', (hash) => {
    expect(() => parsePin(`pnpm@9.1.0+${hash}`)).toThrow(
      'packageManager in package.json ends with a hash that is none: run "corepack use pnpm@9.1.0", which writes it, or leave it out',
    )
  })
})

const inputOf = (packageManager: string, lock: string, manager?: Tool) => ({
  files: sourceOf({
    'package.json': JSON.stringify({ packageManager, dependencies: { a: '1' }, scripts: { start: 'node .' } }),
    [lock]: "lockfileVersion: '9.0'",
  }),
  settings: { type: 'web_service' as const },
  toolchains: { ...everyTool, ...(manager && { manager }) },
})

test('it is fetched for a hash, and npm always, where the lock file is of the same', () => {
  expect(nodeNeed(inputOf(`pnpm@9.1.0+sha512.${hex}`, 'pnpm-lock.yaml'))?.manager).toEqual(pin)
  expect(nodeNeed(inputOf('pnpm@9.1.0', 'pnpm-lock.yaml'))?.manager).toBeUndefined()
  expect(nodeNeed(inputOf(`pnpm@9.1.0+sha512.${hex}`, 'yarn.lock'))?.manager).toBeUndefined()
  expect(nodeNeed(inputOf('npm@10.9.0', 'package-lock.json'))?.manager).toEqual({ name: 'npm', version: '10.9.0' })
})

test.each([
  ['pnpm', 'pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
  ['yarn', 'yarn.lock', 'yarn install --immutable'],
])('%s that was fetched is run by its name, before what else has it', (name, lock, install) => {
  const manager = { directory: '/store/manager/bin', env: {}, readOnlyBinds: ['/store/manager'] }
  const plan = detectBuild(inputOf(`${name}@4.5.0+sha512.${hex}`, lock, manager))
  expect(plan.steps[0]?.command).toBe(install)
  expect(plan.pathEntries.slice(0, 2)).toEqual(['node_modules/.bin', '/store/manager/bin'])
  expect(plan.readOnlyBinds).toEqual(['/store/manager'])
})
