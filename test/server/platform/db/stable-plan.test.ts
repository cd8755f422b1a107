import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '../../../../server/platform/db/open.ts'
import { withStablePlan } from '../../../../server/platform/db/stable-plan.ts'
import { makeDataDir } from '../../../support/data-dir.ts'

const data = makeDataDir()
afterAll(data.remove)

test.each([
  ['SELECT a FROM t WHERE b = ? ORDER BY c', 'SELECT a FROM t WHERE b = +? ORDER BY c'],
  ['SELECT a FROM t WHERE b=$b AND c <> $c AND d >= $d', 'SELECT a FROM t WHERE b= +$b AND c <> +$c AND d >= +$d'],
  ["SELECT a FROM t WHERE b = 'x' AND c IN (?, ?) AND d LIKE ?", "SELECT a FROM t WHERE b = 'x' AND c IN (?, ?) AND d LIKE ?"],
])('%s', (sql, stable) => {
  expect(withStablePlan(sql)).toBe(stable)
})

test('a comparison with a parameter finds what it found, by the same index', () => {
  const db = openDatabase(join(data.dir, 'plans.db'))
  db.run('CREATE TABLE t (a TEXT, b INTEGER, c TEXT) STRICT')
  db.run('CREATE INDEX t_by_a ON t (a, b)')
  for (const [a, b] of [
    ['x', 1],
    ['x', 2],
    ['y', 3],
    ['1', 4],
  ] as const)
    db.query('INSERT INTO t (a, b) VALUES (?, ?)').run(a, b)
  const sql = 'SELECT b FROM t WHERE a = $a AND b >= $least ORDER BY b DESC'
  expect(db.query(sql).all({ a: 'x', least: 1 })).toEqual([{ b: 2 }, { b: 1 }])
  expect(db.query(sql).all({ a: 1, least: 0 })).toEqual([{ b: 4 }])
  expect(db.query(sql).all({ a: null, least: 0 })).toEqual([])
  expect(db.query('UPDATE t SET c = $c WHERE a = $a').run({ c: '007', a: 'y' }).changes).toBe(1)
  expect(db.query('SELECT c FROM t WHERE a = ?').get('y')).toEqual({ c: '007' })
  expect(db.query(`EXPLAIN QUERY PLAN ${sql}`).all({ a: 'x', least: 1 })).toMatchObject([
    { detail: expect.stringContaining('t_by_a (a=?') },
  ])
  db.close()
})
