import { expect, test } from 'vitest'
import { launchColumn } from '../../../../server/apps/deploys/launch-column.ts'

const kept = '{"runtime":"go","startCommand":"./app","env":{"A":"1"},"pathEntries":["bin","/opt/go/bin"],"readOnlyBinds":["/opt/go"]}'

test('releases of earlier executables are read, and what is written is read by them', () => {
  const launch = launchColumn.read(kept)
  expect(launch).toEqual({
    runtime: 'go',
    startCommand: './app',
    env: { A: '1' },
    stack: { kind: 'host', folders: ['/opt/go'], searchPath: ['bin', '/opt/go/bin'] },
  })
  expect(launchColumn.write(launch)).toBe(kept)
})

test('a launch that lacks a member is no launch', () => {
  expect(() => launchColumn.read('{"runtime":"go"}')).toThrow('startCommand')
})
