import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { settingsPage } from '../../../../.scripts/settings-doc.ts'
import { describeConfig, readConfig } from '../../../../server/boot/settings/config.ts'

const page = readFileSync(join(import.meta.dirname, '../../../../server/docs/settings.md'), 'utf8')

test('the page of the settings is the one that `bun .scripts/settings-doc.ts` writes', () => {
  expect(page).toBe(settingsPage())
})

test('the page names every setting', () => {
  for (const { name } of describeConfig(readConfig({}, {}, true))) expect(page).toContain(`| \`${name}\``)
})
