import { describe, expect, test } from 'vitest'
import { percentile } from '../../../../server/boot/doctor/percentile.ts'
import { quietNeighbour } from '../../../../server/boot/doctor/pressure.ts'
import { renderExamination } from '../../../../server/boot/doctor/render.ts'
import { isSound, verdictsOf } from '../../../../server/boot/doctor/verdict.ts'

const held = { id: 'private-files', title: 'Files are private', holds: true }
const lost = { id: 'memory-limit', title: 'Memory is limited', holds: false, reason: 'no control groups' }
const failed = { id: 'read', title: 'reads files', guarantee: 'private-files', attempted: 3, succeeded: [] }
const succeeded = { ...failed, id: 'list', title: 'lists folders', succeeded: ['/var/lib/cpd: saw 3 names'] }

describe('a guarantee', () => {
  test('holds when the engine promises it and no try got round it', () => {
    const verdicts = verdictsOf([held], [failed])
    expect(verdicts).toEqual([{ id: 'private-files', title: 'Files are private', state: 'holds', tries: [failed] }])
    expect(isSound(verdicts)).toBe(true)
  })

  test('is broken when one try did', () => {
    const [verdict] = verdictsOf([held], [failed, succeeded])
    expect(verdict).toMatchObject({ state: 'broken', reason: expect.stringContaining('a hostile app lists folders. This is a fault') })
  })

  test('is missing, with its reason, whatever was tried', () => {
    const verdicts = verdictsOf([lost], [{ ...succeeded, guarantee: 'memory-limit' }])
    expect(verdicts).toMatchObject([{ state: 'missing', reason: 'no control groups' }])
    expect(isSound(verdicts)).toBe(false)
  })

  test('that nobody has promised is told where a try succeeds all the same', () => {
    expect(verdictsOf([], [{ ...succeeded, guarantee: 'unheard-of' }])).toMatchObject([
      { title: 'No hostile app lists folders', state: 'broken' },
    ])
  })
})

test('the report names what holds, what is missing and what succeeded', () => {
  const lines = renderExamination({ verdicts: verdictsOf([held, lost], [succeeded]), leftOut: ['fork-bomb: nothing would stop it'] })
  expect(lines[0]).toBe('Isolation, after 3 attempts of a hostile app to break it')
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}BROKEN {3}Files are private: /))
  expect(lines).toContain('               /var/lib/cpd: saw 3 names')
  expect(lines).toContain('  MISSING  Memory is limited: no control groups')
  expect(lines.slice(-2)).toEqual(['Not tried', '  fork-bomb: nothing would stop it'])
})

test('a neighbour is disturbed by who doubles the 99th percentile of its answers, and by nobody whom it does not notice', () => {
  const under = [
    { id: 'fork-pressure', p99Ms: 19, ratio: 1.9, samples: 100 },
    { id: 'memory-pressure', p99Ms: 21, ratio: 2.1, samples: 100 },
  ]
  expect(quietNeighbour({ quietMs: 10, samples: 100, under }).succeeded).toEqual(['memory-pressure: p99 21.00 ms, quiet 10.00 ms'])
  const unnoticed = [{ id: 'cpu-pressure', p99Ms: 4.9, ratio: 9.8, samples: 100 }]
  expect(quietNeighbour({ quietMs: 0.5, samples: 100, under: unnoticed }).succeeded).toEqual([])
})

test.each([
  [[], Number.NaN],
  [[5], 5],
  [[3, 1, 2, 4], 4],
  [Array.from({ length: 200 }, (_, index) => index + 1), 198],
])('the 99th percentile is the value at the nearest rank', (samples, wanted) => {
  expect(percentile(samples, 0.99)).toBe(wanted)
})
