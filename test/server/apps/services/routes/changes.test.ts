import { expect, test } from 'vitest'
import { changesTold } from '../../../../../server/apps/services/routes/changes.ts'
import { defaultSettings } from '../../../../../server/apps/services/settings.ts'
import { defaultControls } from '../../../../../shared/service-controls.ts'

const before = { settings: { ...defaultSettings, plan: 'starter' as const }, controls: defaultControls }

test('a change of nothing that is told is told as nothing', () => {
  expect(changesTold(before, { ...before, settings: { ...before.settings, rootDir: 'app' } })).toEqual([])
})

test('a change of the plan says from what to what', () => {
  const to = { ...before, settings: { ...before.settings, plan: 'standard' as const } }
  expect(changesTold(before, to)).toEqual([{ type: 'plan_changed', details: { from: 'starter', to: 'standard', direction: 'up' } }])
  expect(changesTold(to, before)).toMatchObject([{ details: { from: 'standard', to: 'starter', direction: 'down' } }])
})

test('the maintenance mode and its page are told each for itself', () => {
  const to = { ...before, controls: { ...defaultControls, maintenanceMode: { enabled: true, uri: 'https://status.example.com' } } }
  expect(changesTold(before, to)).toEqual([
    { type: 'maintenance_mode_enabled', details: { enabled: true } },
    { type: 'maintenance_mode_uri_updated', details: { fromUri: '', toUri: 'https://status.example.com' } },
  ])
})
