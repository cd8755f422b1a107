import { expect, test } from 'vitest'
import { chooseDeploys } from '../../../server/work/choose.ts'

const build = (id: string, serviceId: string) => ({ id, serviceId, releaseId: null })
const ready = (id: string, serviceId: string) => ({ id, serviceId, releaseId: 'rel' })
const chosen = (unfinished: Parameters<typeof chooseDeploys>[0], busy: Parameters<typeof chooseDeploys>[0] = [], maxBuilds = 2) =>
  chooseDeploys(unfinished, { busy, maxBuilds }).map(({ id }) => id)

test('of each service the oldest deploy is chosen', () => {
  expect(chosen([build('1', 'a'), build('2', 'a'), build('3', 'b')])).toEqual(['1', '3'])
})

test('a service that is being worked on is left alone', () => {
  expect(chosen([build('2', 'a'), build('3', 'b')], [build('1', 'a')])).toEqual(['3'])
})

test('no more builds are chosen than there are places', () => {
  expect(chosen([build('1', 'a'), build('2', 'b'), build('3', 'c')])).toEqual(['1', '2'])
  expect(chosen([build('2', 'b'), build('3', 'c')], [build('1', 'a')])).toEqual(['2'])
  expect(chosen([build('3', 'c')], [build('1', 'a'), build('2', 'b')])).toEqual([])
})

test('what has its release waits for no place, and takes none', () => {
  expect(chosen([ready('3', 'c')], [build('1', 'a'), build('2', 'b')])).toEqual(['3'])
  expect(chosen([build('3', 'c'), build('4', 'd')], [ready('1', 'a'), build('2', 'b')])).toEqual(['3'])
})

test('a build that finds no place does not hold up the next service', () => {
  expect(chosen([build('1', 'a'), build('2', 'b'), ready('3', 'c')], [], 1)).toEqual(['1', '3'])
})
