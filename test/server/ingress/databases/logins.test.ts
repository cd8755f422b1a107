import { expect, test } from 'vitest'
import { Logins } from '../../../../server/ingress/databases/logins.ts'
import { randomFrom } from '../random.ts'

const at = (instanceId: string) => ({ instanceId, host: '127.0.0.1', port: 1 })
const limits = { maxLogins: 3, maxLoginsPerAddress: 2 }

function world() {
  const logins = new Logins(limits)
  const begun: string[] = []
  const begin = (address: string, database = 'i') => logins.begin(at(database), address, () => begun.push(address))
  return { logins, begun, begin }
}

test('one address logs in so often at a time, all of them together a little more often', () => {
  const { begun, begin } = world()
  for (const address of ['1.1.1.1', '1.1.1.1', '1.1.1.1', '2.2.2.2', '2.2.2.2', '3.3.3.3']) begin(address)
  expect(begun).toEqual(['1.1.1.1', '1.1.1.1', '2.2.2.2'])
})

test('those who wait have their turn by address, and another database has turns of its own', () => {
  const { begun, begin } = world()
  const ends = Array.from({ length: 5 }, () => begin('1.1.1.1'))
  begin('2.2.2.2')
  begin('3.3.3.3')
  begin('4.4.4.4', 'j')
  for (const end of ends) end()
  expect(begun).toEqual(['1.1.1.1', '1.1.1.1', '2.2.2.2', '4.4.4.4', '1.1.1.1', '3.3.3.3', '1.1.1.1', '1.1.1.1'])
})

test('addresses of one network of IPv6 are one', () => {
  const { begun, begin } = world()
  for (const end of ['1', '2', '3']) begin(`2001:db8::${end}`)
  expect(begun).toHaveLength(2)
})

test('in whatever order they come and go, the bounds hold and nothing stays', () => {
  const random = randomFrom(5)
  const logins = new Logins(limits)
  const busy = new Map<string, number>()
  const guests: (() => void)[] = []
  const change = (address: string, by: number) => busy.set(address, (busy.get(address) ?? 0) + by)
  const begin = () => {
    const address = `10.0.0.${random(4)}`
    let isBusy = false
    const end = logins.begin(at('i'), address, () => {
      isBusy = true
      change(address, 1)
    })
    guests.push(() => {
      if (isBusy) change(address, -1)
      isBusy = false
      end()
      end()
    })
  }
  for (let step = 0; step < 5000; step++) {
    if (random(2) === 0 || guests.length === 0) begin()
    else guests.splice(random(guests.length), 1)[0]?.()
    const counts = [...busy.values()]
    expect(Math.max(...counts)).toBeLessThanOrEqual(limits.maxLoginsPerAddress)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(limits.maxLogins)
  }
  for (const leave of guests) leave()
  expect(logins.size).toBe(0)
})
