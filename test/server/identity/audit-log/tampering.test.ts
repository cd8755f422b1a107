import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashText } from '../../../../server/identity/audit-chain/chain.ts'
import { entriesFrom } from '../../../../server/identity/audit-chain/store.ts'
import { canonicalEntry, genesisHash, sealedEntry } from '../../../../shared/audit.ts'
import { type Random, randomFrom } from '../../ingress/random.ts'
import { type LogWorld, openLogWorld } from './log-world.ts'

let world: LogWorld

beforeEach(async () => {
  world = await openLogWorld()
})
afterEach(() => world.close())

const idAt = (sequence: number): string =>
  world.db
    .query<{ id: string }, [string, number]>('SELECT id FROM audit_log WHERE workspace_id = ? AND seq = ?')
    .get(world.workspaceId, sequence)?.id ?? ''

const set = (sequence: number, column: string, value: string | number | null): void =>
  void world.db.query(`UPDATE audit_log SET ${column} = ? WHERE workspace_id = ? AND seq = ?`).run(value, world.workspaceId, sequence)

const remove = (sequence: number): void =>
  void world.db.query('DELETE FROM audit_log WHERE workspace_id = ? AND seq = ?').run(world.workspaceId, sequence)

/** By steps through negative numbers, as no two may have the same one at any moment. */
function renumber(from: number, by: 1 | -1): void {
  world.db.query('UPDATE audit_log SET seq = -seq WHERE workspace_id = ? AND seq >= ?').run(world.workspaceId, from)
  world.db.query('UPDATE audit_log SET seq = -seq + ? WHERE workspace_id = ? AND seq < 0').run(by, world.workspaceId)
}

function swap(left: number, right: number): void {
  set(left, 'seq', -1)
  set(right, 'seq', left)
  set(-1, 'seq', right)
}

/** Makes all hashes from a place on fit, as whoever knows how they are made can. Signatures they cannot make. */
function rehash(from: number): void {
  const { db, workspaceId } = world
  let previousHash = entriesFrom(db, workspaceId, { from: from - 1, limit: 1 })[0]?.hash ?? genesisHash
  if (from === 1) previousHash = genesisHash
  for (const entry of entriesFrom(db, workspaceId, { from, limit: 100_000 })) {
    const hash = hashText(sealedEntry(hashText(canonicalEntry(workspaceId, { ...entry, previousHash })), entry.signature))
    set(entry.sequence, 'previous_hash', previousHash)
    set(entry.sequence, 'hash', hash)
    previousHash = hash
  }
  db.query('UPDATE audit_heads SET hash = ? WHERE workspace_id = ?').run(previousHash, workspaceId)
}

const columns: [column: string, value: string | number | null][] = [
  ['id', 'aud-00000000000000000000'],
  ['created_at', 1],
  ['event', 'nothing.happened'],
  ['status', 'maybe'],
  ['actor_type', 'nobody'],
  ['actor_id', 'usr-99999999999999999999'],
  ['actor_id', ''],
  ['actor_email', 'mallory@example.com'],
  ['target', 'srv-elsewhere'],
  ['ip', '203.0.113.9'],
  ['request_id', 'another'],
  ['metadata', '{}'],
  ['metadata', '{"operation": "updateService"}'],
  ['metadata', 'no JSON'],
  ['previous_hash', genesisHash.replace('0', '1')],
  ['hash', genesisHash],
  ['signature', 'AAAA'],
]

describe('an intact chain', () => {
  test('is intact when it is empty, short, or longer than what is remembered of it', () => {
    expect(world.verify()).toEqual({ entries: 0, last: undefined, fault: undefined })
    world.write(1)
    expect(world.verify()).toMatchObject({ entries: 1, fault: undefined })
    world.write(2499)
    expect(world.verify()).toMatchObject({ entries: 2500, last: { sequence: 2500 }, fault: undefined })
  })

  test('cannot be changed by mistake', () => {
    world.write(2)
    expect(() => set(1, 'event', 'another')).toThrow('only added to')
    expect(() => remove(1)).toThrow('only added to')
  })

  test('is found to be changed with the entries of another workspace in it', () => {
    world.write(3)
    world.write(3, 'tea-11111111111111111111')
    world.unguard()
    remove(2)
    world.db
      .query("UPDATE audit_log SET workspace_id = ? WHERE workspace_id = 'tea-11111111111111111111' AND seq = 2")
      .run(world.workspaceId)
    expect(world.verify().fault).toMatchObject({ kind: 'changed', sequence: 2, id: idAt(2) })
  })
})

describe('it is found, and the first bad entry named, when', () => {
  beforeEach(() => {
    world.write(30)
    world.unguard()
  })

  test.each(columns)('%s is changed to %s', (column, value) => {
    set(7, column, value)
    expect(world.verify().fault).toMatchObject({ kind: 'changed', sequence: 7, id: idAt(7) })
  })

  test.each(columns)('%s is changed to %s in the last entry', (column, value) => {
    set(30, column, value)
    expect(world.verify().fault).toMatchObject({ sequence: 30, id: idAt(30) })
  })

  test('one is removed', () => {
    remove(7)
    expect(world.verify().fault).toMatchObject({ kind: 'removed', sequence: 7 })
  })

  test('one is removed and those after it are numbered anew', () => {
    remove(7)
    renumber(8, -1)
    expect(world.verify().fault).toMatchObject({ kind: 'removed', sequence: 7 })
  })

  test('one is removed, those after it are numbered anew, and all hashes made to fit', () => {
    remove(7)
    renumber(8, -1)
    rehash(7)
    expect(world.verify().fault).toMatchObject({ kind: 'rewritten', sequence: 7, id: idAt(7) })
  })

  test('the first is removed', () => {
    remove(1)
    expect(world.verify().fault).toMatchObject({ kind: 'removed', sequence: 1 })
  })

  test.each([
    [7, 8],
    [7, 20],
    [1, 30],
  ])('entries %i and %i change places', (left, right) => {
    swap(left, right)
    expect(world.verify().fault).toMatchObject({ kind: 'swapped', sequence: left, id: idAt(left) })
  })

  test('one is put in, and those after it are numbered anew', () => {
    renumber(7, 1)
    world.db
      .query(
        `INSERT INTO audit_log SELECT workspace_id, 7, 'aud-forged', created_at, event, status, actor_type, actor_id, actor_email, target, ip,
         request_id, metadata, previous_hash, hash, signature FROM audit_log WHERE seq = 8`,
      )
      .run()
    expect(world.verify().fault).toMatchObject({ kind: 'inserted', sequence: 7, id: 'aud-forged' })
  })

  test('the tail is rewritten, with hashes that fit', () => {
    set(7, 'target', 'srv-elsewhere')
    rehash(7)
    expect(world.verify().fault).toMatchObject({ kind: 'rewritten', sequence: 7, id: idAt(7) })
  })

  test('the tail is cut off', () => {
    for (const sequence of [28, 29, 30]) remove(sequence)
    expect(world.verify().fault).toMatchObject({ kind: 'cut', sequence: 28 })
  })

  test('the tail is cut off, and its signed end changed or removed', () => {
    for (const sequence of [28, 29, 30]) remove(sequence)
    world.db.run('UPDATE audit_heads SET seq = 27, hash = (SELECT hash FROM audit_log WHERE seq = 27)')
    expect(world.verify().fault).toMatchObject({ kind: 'checkpoint', sequence: 27, id: idAt(27) })
    world.db.run('DELETE FROM audit_heads')
    expect(world.verify().fault).toMatchObject({ kind: 'checkpoint', sequence: 27, id: idAt(27) })
  })

  test('everything is removed but the signed end', () => {
    world.db.run('DELETE FROM audit_log')
    expect(world.verify().fault).toMatchObject({ kind: 'cut', sequence: 1 })
  })

  test('another key has signed from some entry on', async () => {
    const other = await openLogWorld()
    const { signature } = { signature: other.signer.sign('anything') }
    other.close()
    for (let sequence = 12; sequence <= 30; sequence++) set(sequence, 'signature', signature)
    rehash(12)
    expect(world.verify().fault).toMatchObject({ kind: 'rewritten', sequence: 12 })
  })
})

const RUNS = 120
const ENTRIES = 1200

/** One thing that somebody with the file in their hands may do; gives the first entry that is bad then. */
const attacks: ((random: Random) => number)[] = [
  (random) => {
    const at = 1 + random(ENTRIES)
    const [column, value] = columns[random(columns.length)] ?? ['event', '']
    set(at, column, value)
    return at
  },
  (random) => {
    const at = 1 + random(ENTRIES)
    remove(at)
    return at
  },
  (random) => {
    const at = 1 + random(ENTRIES - 1)
    remove(at)
    renumber(at + 1, -1)
    if (random(2) === 1) rehash(at)
    return at
  },
  (random) => {
    const left = 1 + random(ENTRIES - 1)
    swap(left, left + 1 + random(ENTRIES - left))
    return left
  },
  (random) => {
    const at = 1 + random(ENTRIES)
    renumber(at, 1)
    world.db
      .query(
        `INSERT INTO audit_log SELECT workspace_id, $at, 'aud-forged', created_at, event, status, actor_type, actor_id, actor_email, target,
         ip, request_id, metadata, previous_hash, hash, signature FROM audit_log WHERE seq = $from`,
      )
      .run({ at, from: at + 1 })
    if (random(2) === 1) rehash(at)
    return at
  },
  (random) => {
    const at = 1 + random(ENTRIES)
    set(at, 'metadata', '{"forged":true}')
    rehash(at)
    return at
  },
  (random) => {
    const at = 1 + random(ENTRIES)
    world.db.query('DELETE FROM audit_log WHERE seq >= ?').run(at)
    return at
  },
]

test(`${RUNS} random attacks on a chain of ${ENTRIES} are all found, at the first bad entry`, () => {
  world.write(ENTRIES)
  world.unguard()
  for (let run = 0; run < RUNS; run++) {
    const random = randomFrom(run)
    world.db.run('BEGIN')
    const index = random(attacks.length)
    const wanted = attacks[index]?.(random)
    const { fault } = world.verify()
    expect({ run, index, sequence: fault?.sequence }, fault?.message).toEqual({ run, index, sequence: wanted })
    world.db.run('ROLLBACK')
  }
  expect(world.verify().fault).toBeUndefined()
}, 120_000)
