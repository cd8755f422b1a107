import { describe, expect, test } from 'vitest'
import { chooseDeploys, type Places, placesOfEach } from '../../../../server/apps/pipeline/choose.ts'

type Waiting = Parameters<typeof chooseDeploys>[0][number]

/** A service of the workspace `own` unless another is given. */
const build = (id: string, serviceId: string, workspaceId = 'own'): Waiting => ({
  ...{ id, serviceId, workspaceId },
  ...{ releaseId: null, trigger: 'api' },
})
const ready = (id: string, serviceId: string): Waiting => ({ ...build(id, serviceId), releaseId: 'rel' })
/** One of those that a change of an env group has made. */
const updated = (id: string, serviceId: string): Waiting => ({ ...ready(id, serviceId), trigger: 'service_updated' })
const chosen = (unfinished: Waiting[], busy: Waiting[] = [], { maxBuilds = 2, ...places }: Partial<Places> = {}) =>
  chooseDeploys(unfinished, { busy, maxBuilds, placesOf: () => maxBuilds, lastTurnOf: () => 0, ...places })
    .map(({ id }) => id)
    .sort()

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

test('deploys that a change of a group has made take places like builds, with a release as well', () => {
  expect(chosen([updated('1', 'a'), updated('2', 'b'), updated('3', 'c'), ready('4', 'd')])).toEqual(['1', '2', '4'])
  expect(chosen([updated('3', 'c'), ready('4', 'd')], [updated('1', 'a'), updated('2', 'b')])).toEqual(['4'])
  expect(chosen([build('3', 'c'), updated('4', 'd')], [updated('1', 'a')])).toEqual(['3'])
})

test('a build that finds no place does not hold up the next service', () => {
  expect(chosen([build('1', 'a'), build('2', 'b'), ready('3', 'c')], [], { maxBuilds: 1 })).toEqual(['1', '3'])
})

describe('between workspaces', () => {
  test('a place goes to the one that has fewest, however long the queue of another is', () => {
    const queue = [build('1', 'a', 'greedy'), build('2', 'b', 'greedy'), build('3', 'c', 'greedy'), build('4', 'd', 'other')]
    expect(chosen(queue)).toEqual(['1', '4'])
    expect(chosen(queue.slice(1), [build('1', 'a', 'greedy')])).toEqual(['4'])
  })

  test('with one place they take turns', () => {
    const queue = [build('2', 'b', 'greedy'), build('3', 'c', 'greedy'), build('4', 'd', 'other')]
    expect(chosen(queue, [], { maxBuilds: 1, lastTurnOf: (workspaceId) => (workspaceId === 'greedy' ? 7 : 3) })).toEqual(['4'])
  })

  test('none takes more places than it may have, though nobody else waits', () => {
    const queue = [build('2', 'b', 'greedy'), build('3', 'c', 'greedy')]
    expect(chosen(queue, [build('1', 'a', 'greedy')], { placesOf: () => 1 })).toEqual([])
  })

  test('none may have all places, where there are several of both', () => {
    expect([placesOfEach(2, 1), placesOfEach(2, 2), placesOfEach(8, 40), placesOfEach(1, 2)]).toEqual([2, 1, 7, 1])
  })
})
