import { Database } from 'bun:sqlite'
import { beforeEach, expect, test } from 'vitest'
import { afterChange, inOneChange } from '../../../../server/platform/db/change.ts'

let db: Database
let done: string[]
beforeEach(() => {
  db = new Database(':memory:', { strict: true })
  db.run('CREATE TABLE written (word TEXT NOT NULL) STRICT')
  done = []
})

const write = (word: string) => {
  db.query('INSERT INTO written VALUES (?)').run(word)
  afterChange(db, () => done.push(word))
}
const written = () =>
  db
    .query<{ word: string }, []>('SELECT word FROM written')
    .all()
    .map(({ word }) => word)

function refused(): void {
  try {
    inOneChange(db, () => {
      write('inner')
      throw new Error('refused')
    })
  } catch {
    write('why')
  }
}

test('what a change asks for is done when it is made, in its order', () => {
  inOneChange(db, () => {
    write('one')
    inOneChange(db, () => write('two'))
    expect(done).toEqual([])
  })
  expect(done).toEqual(['one', 'two'])
})

test('nothing is done of what a change asked for that was taken back within another', () => {
  inOneChange(db, () => {
    write('before')
    refused()
    write('after')
  })
  expect(written()).toEqual(['before', 'why', 'after'])
  expect(done).toEqual(['before', 'why', 'after'])
})

test('nothing is done of a change that was taken back as a whole, and the next one is made', () => {
  expect(() =>
    inOneChange(db, () => {
      write('before')
      throw new Error('refused')
    }),
  ).toThrow('refused')
  inOneChange(db, () => write('next'))
  expect({ written: written(), done }).toEqual({ written: ['next'], done: ['next'] })
})
