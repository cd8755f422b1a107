import { expect, test } from 'vitest'
import { flagsBehind } from '../../cli/flag-names.ts'

test('the option is named that a refused field came from, and no other', () => {
  expect(flagsBehind(['serviceDetails.numInstances'], ['services', 'update', 'web', '--instances', '0'])).toEqual(['--instances'])
  expect(flagsBehind(['/serviceDetails/healthCheckPath'], ['deploy', '--health-check-path=x'])).toEqual(['--health-check-path'])
  expect(flagsBehind(['serviceDetails.sleep.idleSeconds'], ['x', '--sleep-after', '1s'])).toEqual(['--sleep-after'])
  expect(flagsBehind(['name'], ['services', 'create', 'x'])).toEqual([])
})
