import { describe, expect, it } from 'vitest'
import { type Description, readDescription, writeDescription } from '../../../../server/apps/backups/offsite/description.ts'
import { renderAdopted, renderSets } from '../../../../server/boot/commands/backups.ts'

const identity = 'AGE-SECRET-KEY-1AAAA'
const description: Description = {
  format: 1,
  writtenAt: 2,
  logUntil: 1,
  set: {
    datastoreId: 'dpg-00000000000000000001-a',
    kind: 'postgres',
    name: 'shop',
    version: '18',
    recipient: 'age1a',
    recipe: { plan: 'free', sizeGb: 1, databaseName: 'app', databaseUser: 'app_user', parameterOverrides: {} },
    createdAt: 1,
  },
  backups: [],
  objects: [{ name: 'wal/000000010000000000000001', digest: '0'.repeat(32), plainBytes: 1, packedBytes: 1, createdAt: 1 }],
}
const [object] = description.objects

describe('the description of a set', () => {
  it('is read as it was written by who has the key', () => {
    expect(readDescription(writeDescription(description, identity), identity)).toEqual(description)
  })

  it('is refused when somebody else wrote it, or changed it', () => {
    expect(() => readDescription(writeDescription(description, 'AGE-SECRET-KEY-1BBBB'), identity)).toThrow('not written by a server')
    const changed = Buffer.from(writeDescription(description, identity).toString().replace('shop', 'stop'))
    expect(() => readDescription(changed, identity)).toThrow('not written by a server')
    expect(() => readDescription(Buffer.from('anything'), identity)).toThrow('not written by a server')
    expect(() => readDescription(Buffer.alloc(0), identity)).toThrow('not written by a server')
  })

  it.each([
    ['is of a later version', { ...description, format: 3 }],
    ['names a file elsewhere', { ...description, objects: [{ ...object, name: '../../etc/passwd' }] }],
    ['names no database', { ...description, set: { ...description.set, datastoreId: '../x' } }],
  ])('is refused when it %s', (_, other) => {
    expect(() => readDescription(writeDescription(other as Description, identity), identity)).toThrow('another version')
  })
})

describe('the commands for it', () => {
  it('tell what there is, and what to do next', () => {
    const set = {
      id: 'dpg-1-a',
      name: 'shop',
      version: '18',
      backups: 3,
      from: '2026-11-20T10:00:00.000Z',
      until: '2026-11-22T10:00:00.000Z',
    }
    expect(
      renderSets([
        { ...set, state: 'at the bucket' },
        { id: 'sets/x', problem: 'The backup is damaged: it was encrypted for another key' },
      ]),
    ).toBe(
      [
        'DATABASE  NAME  VERSION  BACKUPS  FROM                      UNTIL                     IS',
        'dpg-1-a   shop  18       3        2026-11-20T10:00:00.000Z  2026-11-22T10:00:00.000Z  at the bucket',
        'sets/x                                                                                The backup is damaged: it was encrypted for another key',
        '',
      ].join('\n'),
    )
    const kinds = [
      { ...set, kind: 'postgres' },
      { ...set, kind: 'postgres', id: 'dpg-2-a' },
      { ...set, kind: 'key_value', id: 'red-1' },
    ]
    expect(renderAdopted(kinds)).toContain('cpctl postgres recover dpg-1-a, cpctl kv recover red-1\n')
    expect(renderAdopted([])).toContain('no backups of other servers')
  })
})
