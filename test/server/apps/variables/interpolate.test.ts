import { describe, expect, test } from 'vitest'
import { badReferenceIn, interpolateAll, type RawVariable } from '../../../../server/apps/variables/interpolate.ts'
import { randomNumbers } from '../../../support/random-numbers.ts'

type Marked = Record<string, string>

/** What the variables of `marked` come to, beside those of `plain`, which are not interpolated. */
function outcomes(marked: Marked, plain: Marked = {}, given: Record<string, string | null> = {}) {
  const variables = new Map<string, RawVariable>([
    ...Object.entries(plain).map(([key, value]) => [key, { value }] as const),
    ...Object.entries(marked).map(([key, value]) => [key, { value, interpolate: true }] as const),
  ])
  const all = interpolateAll(variables, new Map(Object.entries(given)))
  return Object.fromEntries([...all].map(([key, found]) => [key, 'value' in found ? found.value : found.problem]))
}

describe('references', () => {
  test('are replaced where the variable is marked, and nowhere else', () => {
    const plain = { HOST: 'db.example', PRICE: '${HOST} costs $5', SHELL: '$HOST ${} ${HOST' }
    expect(outcomes({ URL: 'pg://${HOST}:5432/${HOST}' }, plain)).toEqual({ URL: 'pg://db.example:5432/db.example' })
  })

  test('go through other marked variables, in whatever order those stand', () => {
    expect(outcomes({ A: '<${B}>', C: 'c', B: '[${C}]' })).toEqual({ A: '<[c]>', B: '[c]', C: 'c' })
  })

  test('that come with a value are left as they are: there is one pass', () => {
    expect(outcomes({ A: '${B}' }, { B: '${C}', C: 'never' }).A).toBe('${C}')
    expect(outcomes({ A: '$${B}', D: '$&$1${B}' }, { B: "$&$1$'" })).toMatchObject({ A: "$$&$1$'", D: "$&$1$&$1$'" })
  })

  test('reach what the platform gives, unless each instance has its own', () => {
    const given = { CPD_EXTERNAL_URL: 'https://a.example', PORT: null }
    expect(outcomes({ A: '${CPD_EXTERNAL_URL}/x', B: ':${PORT}' }, {}, given)).toEqual({
      A: 'https://a.example/x',
      B: 'refers to PORT, which is own to each instance, so that the app has to read it itself',
    })
  })

  test('to what is not set are told, and are never empty', () => {
    expect(outcomes({ A: '${B}', C: 'x${A}', D: 'd' })).toEqual({
      A: 'refers to B, which is not set',
      C: 'refers to A, which has no value itself',
      D: 'd',
    })
  })

  test('of a form that is none are found', () => {
    for (const good of ['', 'a$b', '${A}', 'x${A_1}y${b}', '$$', '$ {A']) expect(badReferenceIn(good)).toBeUndefined()
    expect(['${A:-b}', '${', 'x${1A}y', '${A', '${}', '${A}${b c}', `\${${'A'.repeat(256)}}`].map(badReferenceIn)).toEqual([
      '${A:-b}',
      '${',
      '${1A}',
      '${A',
      '${}',
      '${b',
      `\${${'A'.repeat(40)}`,
    ])
  })
})

describe('circles', () => {
  test('are told with their path, and so is who refers into one', () => {
    expect(outcomes({ A: '${B}', B: 'x${C}', C: '${A}', D: '${E}', E: '${B}', F: 'f' })).toEqual({
      A: 'stands in a circle: A → B → C → A',
      B: 'stands in a circle: A → B → C → A',
      C: 'stands in a circle: A → B → C → A',
      D: 'refers to E, which has no value itself',
      E: 'refers to B, which has no value itself',
      F: 'f',
    })
    expect(outcomes({ A: '${A}' })).toEqual({ A: 'stands in a circle: A → A' })
  })

  test('of two that meet in one variable leave nobody without an answer', () => {
    const all = outcomes({ A: '${B}${D}', B: '${A}', C: '${A}', D: '${C}' })
    expect(Object.values(all).every((told) => told.startsWith('stands in a circle') || told.startsWith('refers to'))).toBe(true)
  })
})

describe('size', () => {
  test('of what one comes to is bounded before it is made', () => {
    const doubled = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`V${at + 1}`, `\${V${at}}\${V${at}}`]))
    const all = outcomes(doubled, { V0: 'x'.repeat(1000) })
    expect(all.V7?.length).toBe(128_000)
    expect(all.V8).toBe('comes to 256000 characters; a value may have 131072')
    expect(all.V60).toBe('refers to V59, which has no value itself')
  })

  test('of all together is bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`V${String(at).padStart(2, '0')}`, '${LONG}']))
    const all = outcomes(many, { LONG: 'x'.repeat(100_000) })
    expect(all.V19?.length).toBe(100_000)
    expect(all.V39).toContain('interpolated values may have 2097152 characters together')
  })

  test('of a chain or a circle as long as there can be is no matter', () => {
    const count = 50_000
    const chain = Object.fromEntries(Array.from({ length: count }, (_, at) => [`V${at}`, `\${V${at + 1}}`]))
    expect(outcomes(chain, { [`V${count}`]: 'end' }).V0).toBe('end')
    expect(outcomes({ ...chain, [`V${count}`]: '${V0}' }).V0).toMatch(/^stands in a circle: V0 → .*… → V0$/)
  })
})

test('whatever refers to whatever, each variable comes to a value without a reference or to a reason', () => {
  const random = randomNumbers(7)
  for (let round = 0; round < 300; round++) {
    const names = Array.from({ length: 1 + random(8) }, (_, at) => `V${at}`)
    const marked = Object.fromEntries(names.map((name) => [name, Array.from({ length: random(3) }, () => `\${V${random(10)}}`).join('-')]))
    const all = outcomes(marked, { V8: 'eight' })
    expect(Object.keys(all).sort()).toEqual(names)
    for (const told of Object.values(all)) expect(told).toMatch(/^(eight|-)*$|^refers to V\d, which |^stands in a circle: V\d/)
  }
})
