import { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import { beforeEach, expect, test } from 'vitest'
import { flag, isoTime, orNull } from '../../../../server/platform/db/codec.ts'
import { json } from '../../../../server/platform/db/json-column.ts'
import { tableOf } from '../../../../server/platform/db/table.ts'

interface StoredBoat {
  id: string
  ownerName: string | null
  isAfloat: boolean
  crew: { names: string[] }
  builtAt: string | null
}

const Crew = Type.Object({ names: Type.Array(Type.String()) })

const boats = tableOf<StoredBoat>('boats', {
  id: 'id',
  ownerName: 'owner_name',
  isAfloat: { column: 'afloat', as: flag },
  crew: { column: 'crew', as: json({ schema: Crew }) },
  builtAt: { column: 'built_at', as: orNull(isoTime) },
})

const boat: StoredBoat = { id: 'boat-1', ownerName: 'Ada', isAfloat: true, crew: { names: ['Grace'] }, builtAt: '2024-05-01T00:00:00.000Z' }

let db: Database
beforeEach(() => {
  db = new Database(':memory:', { strict: true })
  db.run(`CREATE TABLE boats (id TEXT PRIMARY KEY, owner_name TEXT, afloat INTEGER NOT NULL DEFAULT 1,
    crew TEXT NOT NULL DEFAULT '{"names":[]}', built_at INTEGER, secret TEXT)`)
  db.run('CREATE TABLE owners (name TEXT, id TEXT)')
})

const plain = () => db.query('SELECT * FROM boats ORDER BY id').all()

test('a row comes back as it was inserted, and stands in plain columns', () => {
  expect(boats.insert(db, boat)).toBe(true)
  expect(boats.get(db, 'WHERE id = $id', { id: 'boat-1' })).toEqual(boat)
  expect(plain()).toEqual([
    { id: 'boat-1', owner_name: 'Ada', afloat: 1, crew: '{"names":["Grace"]}', built_at: Date.parse('2024-05-01'), secret: null },
  ])
})

test('what an insert leaves out takes the default of its column', () => {
  boats.insert(db, { id: 'boat-2' })
  expect(boats.all(db, 'ORDER BY id')).toEqual([{ id: 'boat-2', ownerName: null, isAfloat: true, crew: { names: [] }, builtAt: null }])
})

test('an insert that meets a conflict says whether it added anything', () => {
  boats.insert(db, boat)
  expect(boats.insert(db, { ...boat, ownerName: 'Eve' }, 'ON CONFLICT DO NOTHING')).toBe(false)
  expect(boats.get(db, '')).toEqual(boat)
})

test('an update changes what is named and nothing else', () => {
  boats.insert(db, boat)
  boats.insert(db, { ...boat, id: 'boat-2' })
  expect(boats.update(db, { id: 'boat-2' }, { isAfloat: false, builtAt: null })).toBe(1)
  expect(boats.all(db, 'ORDER BY id')).toEqual([boat, { ...boat, id: 'boat-2', isAfloat: false, builtAt: null }])
  expect(boats.update(db, { ownerName: null }, { isAfloat: false })).toBe(0)
  expect(boats.update(db, { id: 'boat-1' }, {})).toBe(0)
})

test('rows are found by a join, and given back by the statement that removes them', () => {
  boats.insert(db, boat)
  db.run("INSERT INTO owners VALUES ('Ada', 'own-1')")
  expect(boats.get(db, "JOIN owners o ON o.name = boats.owner_name WHERE o.id = 'own-1'")).toEqual(boat)
  const gone = db.query<Record<string, string>, []>(`DELETE FROM boats RETURNING ${boats.columns}`).all()
  expect(gone.map(boats.present)).toEqual([boat])
})

test('a field that the table does not have is refused', () => {
  expect(() => boats.insert(db, { id: 'boat-1', sails: 3 } as Partial<StoredBoat>)).toThrow('boats has no field sails')
})

test('a value that cannot be read is named by table, column and row', () => {
  db.run(`INSERT INTO boats (id, crew) VALUES ('boat-1', '{"names":[3]}'), ('boat-2', 'x')`)
  expect(() => boats.get(db, 'ORDER BY id')).toThrow(/^boats\.crew of boat-1 cannot be read: \/names\/0: Expected string/)
  expect(() => boats.get(db, 'ORDER BY id DESC')).toThrow(/^boats\.crew of boat-2 cannot be read: JSON/)
})

test('a list can do without the rows that cannot be read', () => {
  boats.insert(db, boat)
  db.run(`INSERT INTO boats (id, crew) VALUES ('boat-2', '[]')`)
  expect(() => boats.all(db, 'ORDER BY id')).toThrow('boats.crew of boat-2')
  const unreadable: string[] = []
  expect(boats.all(db, 'ORDER BY id', {}, ({ message }) => unreadable.push(message))).toEqual([boat])
  expect(unreadable).toEqual([expect.stringContaining('boats.crew of boat-2')])
})

test('a row is put in the place of the one with its key, and removed by its fields', () => {
  boats.put(db, boat)
  boats.put(db, { ...boat, ownerName: null })
  expect(boats.all(db, '')).toEqual([{ ...boat, ownerName: null }])
  expect(boats.remove(db, { id: 'boat-1', ownerName: 'Ada' })).toBe(0)
  expect(boats.remove(db, { id: 'boat-1', ownerName: null })).toBe(1)
  expect(boats.all(db, '')).toEqual([])
})
