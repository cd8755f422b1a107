import { expect, test } from 'vitest'
import { renderSettings } from '../../../../server/apps/postgres/config-files.ts'
import { namesOf } from '../../../../server/apps/postgres/names.ts'
import { refuseBadParameters } from '../../../../server/apps/postgres/parameters.ts'
import { settingsOf } from '../../../../server/apps/postgres/settings.ts'
import { quoteName, quoteText } from '../../../../server/apps/postgres/sql.ts'
import { postgresPlans } from '../../../../shared/postgres.ts'

test('names of a database are made of its name, and those of the server and the platform are refused', () => {
  expect(namesOf({ name: 'shop', databaseName: '' })).toEqual({ databaseName: 'shop', databaseUser: 'shop_user' })
  expect(namesOf({ name: 'My Shop 2' })).toEqual({ databaseName: 'my_shop_2', databaseUser: 'my_shop_2_user' })
  expect(namesOf({ name: '1st' }).databaseName).toBe('db_1st')
  expect(namesOf({ name: 'postgres' }).databaseName).toBe('db_postgres')
  expect(namesOf({ name: 'x', databaseName: 'x'.repeat(63) }).databaseUser).toHaveLength(63)
  for (const databaseUser of ['cpd_admin', 'pg_monitor', 'postgres', 'public'])
    expect(() => namesOf({ name: 'shop', databaseUser })).toThrow(/Choose another/)
})

test('what is quoted stands for itself in SQL and in settings', () => {
  expect(quoteName('a"b')).toBe('"a""b"')
  expect(quoteText("it's \\")).toBe("E'it''s \\\\'")
  expect(renderSettings({ log_line_prefix: "it's " })).toBe("log_line_prefix = 'it''s '\n")
})

test('every plan has settings that fit into its memory and its disk', () => {
  for (const plan of Object.values(postgresPlans))
    for (const sizeGb of [1, 100]) {
      const settings = settingsOf({ plan, sizeGb, version: 18 })
      const mbOf = (name: string) => Number.parseInt(settings[name] ?? '', 10)
      expect(mbOf('shared_buffers') + mbOf('maintenance_work_mem')).toBeLessThan(plan.memoryMb / 2)
      expect(mbOf('max_wal_size') + mbOf('max_slot_wal_keep_size')).toBeLessThan(sizeGb * 1024 * 0.4)
      expect(settings.io_method).toBe('sync')
    }
  // The manual's default comes to 64 / 2 - 1.
  expect(settingsOf({ plan: postgresPlans.free, sizeGb: 1, version: 18 }).max_pred_locks_per_relation).toBe('31')
  expect(settingsOf({ plan: postgresPlans.free, sizeGb: 1, version: 15 })).not.toHaveProperty('summarize_wal')
})

test('parameters are taken from a list alone, each with values that it can have', () => {
  refuseBadParameters({ work_mem: '16MB', statement_timeout: '30s', jit: 'off', max_connections: '50', random_page_cost: '1.5' })
  for (const [name, value] of [
    ['archive_command', 'touch /tmp/x'],
    ['shared_preload_libraries', 'evil'],
    ['fsync', 'off'],
    ['constructor', 'on'],
    ['work_mem', '1TB'],
    ['work_mem', "1MB'\nfsync = 'off"],
    ['max_connections', '0'],
    ['jit', 'maybe'],
    ['statement_timeout', '30'],
    ['synchronous_commit', 'never'],
  ] as const)
    expect(() => refuseBadParameters({ [name]: value }), name).toThrow(name)
})
