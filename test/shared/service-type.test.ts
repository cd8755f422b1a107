import { expect, test } from 'vitest'
import { typesWith } from '../../shared/service-type.ts'

test('types are told apart by what holds of them', () => {
  expect(typesWith('isRouted')).toEqual(['web_service', 'static_site'])
  expect(typesWith('isProxied')).toEqual(['web_service'])
  expect(typesWith('listens')).toEqual(['web_service', 'private_service'])
  expect(typesWith('choosesPort')).toEqual(['private_service'])
  expect(typesWith('hasInstances')).toEqual(['web_service', 'private_service', 'background_worker'])
  expect(typesWith('mayHaveDisk')).toEqual(['web_service', 'private_service', 'background_worker'])
  expect(typesWith('isScheduled')).toEqual(['cron_job'])
  expect(typesWith('runsProgram')).toEqual(['web_service', 'private_service', 'background_worker', 'cron_job'])
})
