import { Database } from 'bun:sqlite'
import { expect, test } from 'vitest'
import { launchColumn } from '../../../../server/apps/deploys/launch-column.ts'
import { stackFolders } from '../../../../server/apps/deploys/release-store.ts'

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

test('the folders that any release needs are told, each once', () => {
  const db = new Database(':memory:')
  db.run('CREATE TABLE releases (launch TEXT NOT NULL)')
  const launch = launchColumn.read(kept)
  for (const folders of [['/data/toolchains/node-22.11.0', '/opt/go'], ['/opt/go'], []])
    db.run('INSERT INTO releases VALUES (?)', [launchColumn.write({ ...launch, stack: { ...launch.stack, folders } })])
  expect(stackFolders(db).sort()).toEqual(['/data/toolchains/node-22.11.0', '/opt/go'])
})
