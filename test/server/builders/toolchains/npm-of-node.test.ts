import { expect, test } from 'vitest'
import { npmVersionFor } from '../../../../server/builders/toolchains/node/npm-of-node.ts'

/** Node.js versions that each npm runs on, as `npm view npm@11.6.2 engines` tells them. */
const engines: Record<string, string> = {
  '11.6.2': '^20.17.0 || >=22.9.0',
  '10.9.4': '^18.17.0 || >=20.5.0',
  '10.8.2': '^18.17.0 || >=20.5.0',
  '8.19.4': '^12.13.0 || ^14.15.0 || >=16.0.0',
  '6.14.18': '6 >=6.2.0 || 8 || >=9.3.0',
}

test.each([
  ['26.12.1', '11.6.2'],
  ['24.0.0', '11.6.2'],
  ['23.11.1', '10.9.4'],
  ['22.0.0', '10.9.4'],
  ['21.7.3', '10.8.2'],
  ['20.20.2', '10.8.2'],
  ['20.0.0', '8.19.4'],
  ['19.8.1', '8.19.4'],
  ['18.20.8', '10.8.2'],
  ['18.0.0', '8.19.4'],
  ['16.20.2', '8.19.4'],
  ['15.14.0', '6.14.18'],
  ['14.21.3', '6.14.18'],
  ['12.22.12', '6.14.18'],
])('Node.js %s has npm %s beside it, which says that it runs there', (node, npm) => {
  expect(npmVersionFor(node)).toBe(npm)
  expect(Bun.semver.satisfies(node, engines[npm] ?? '')).toBe(true)
})
