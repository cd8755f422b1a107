import { describe, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import { type Permission, permissionNames, permissions } from '../../shared/permission.ts'
import type { Role } from '../../shared/role.ts'
import { pageOf } from './examples.ts'
import type { Answers } from './fake-server.ts'
import { serverPerTest } from './server-per-test.ts'

const role = (fields: Partial<Role> = {}): Role => ({
  id: 'rol-0b1c2d3e4f5g6h7i8j9k',
  name: 'Deployer',
  description: 'Of the pipeline',
  permissions: ['services.read', 'deploys.create'],
  builtIn: false,
  createdAt: '2026-02-01T11:00:00.000Z',
  updatedAt: '2026-02-01T11:30:00.000Z',
  ...fields,
})
const viewer = role({
  id: 'rol-1b1c2d3e4f5g6h7i8j9k',
  name: 'viewer',
  description: '',
  permissions: ['services.read', 'logs.read'],
  builtIn: true,
})

const servers = serverPerTest()
const on = (answers: Answers = {}) =>
  servers.on({
    listRoles: () => pageOf('role', [role(), viewer]),
    listPermissions: () => permissionNames.map((name) => ({ name, description: permissions[name] })),
    ...answers,
  })
const sent = () => servers.received().at(-1)

describe('roles', () => {
  test('are shown with what they may do, by name in any letter case or by id', async () => {
    const run = on()
    for (const name of ['Deployer', 'DEPLOYER', role().id]) {
      expect((await run('roles', 'show', name)).stdout).toBe(
        [
          'Name:        Deployer',
          'Id:          rol-0b1c2d3e4f5g6h7i8j9k',
          'Kind:        custom',
          'Description: Of the pipeline',
          'Created:     2026-02-01T11:00:00.000Z',
          'Updated:     2026-02-01T11:30:00.000Z',
          'May:',
          '  services.read',
          '  deploys.create',
          '',
        ].join('\n'),
      )
    }
    expect(JSON.parse((await run('roles', 'show', 'viewer', '--json')).stdout)).toEqual(viewer)
  })

  test('that there are not are answered with the nearest', async () => {
    const run = on()
    expect(await run('roles', 'show', 'deploier')).toMatchObject({
      exitCode: 1,
      stderr: 'Error: There is no role deploier.\nDid you mean Deployer? cpctl roles list shows them all.\n',
    })
    expect((await run('roles', 'show', 'something else')).stderr).toContain('cpctl roles list shows them.')
  })

  test('are created from permissions, comma-joined or repeated, and from another role', async () => {
    const run = on({ createRole: ({ body }) => role(body as Partial<Role>) })
    const { stdout, stderr } = await run('roles', 'create', 'Ops', '--permission', 'logs.read,env.read', '--permission', 'shell.open')
    expect({ stdout, stderr }).toEqual({ stdout: 'Created Ops (rol-0b1c2d3e4f5g6h7i8j9k) with 3 permissions.\n', stderr: '' })
    expect(sent()?.body).toEqual({ name: 'Ops', permissions: ['logs.read', 'env.read', 'shell.open'] })
    await run('roles', 'create', 'Looker', '--like', 'viewer', '--permission', 'metrics.read,logs.read', '--description', 'Looks')
    expect(sent()?.body).toEqual({ name: 'Looker', description: 'Looks', permissions: ['services.read', 'logs.read', 'metrics.read'] })
  })

  test('with a permission that is none are refused here, with the nearest', async () => {
    const run = on()
    expect(await run('roles', 'create', 'Ops', '--permission', 'service.read')).toMatchObject({
      exitCode: 2,
      stderr: 'Error: service.read is no permission.\nDid you mean services.read? cpctl permissions lists them all.\n',
    })
    expect((await run('roles', 'create', 'Ops', '--permission', 'everything')).stderr).toContain('cpctl permissions lists those there are.')
    expect(await run('roles', 'create', 'Ops')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Give --permission or --like'),
    })
    expect(servers.received().some(({ id }) => id === 'createRole')).toBe(false)
  })

  test('are changed: renamed, given all, more or fewer permissions', async () => {
    const run = on({ updateRole: ({ body }) => role(body as Partial<Role>) })
    expect((await run('roles', 'update', 'deployer', '--name', 'Shipper')).stdout).toBe(
      'Updated Shipper: 2 permissions, for everyone who holds it from their next request on.\n',
    )
    expect(sent()).toMatchObject({ params: { roleId: role().id }, body: { name: 'Shipper' } })
    const permissionsAfter = async (...options: string[]): Promise<Permission[]> => {
      await run('roles', 'update', 'Deployer', ...options)
      return (sent()?.body as { permissions: Permission[] } | undefined)?.permissions ?? []
    }
    expect(await permissionsAfter('--add', 'logs.read', '--remove', 'deploys.create')).toEqual(['services.read', 'logs.read'])
    expect(await permissionsAfter('--permission', 'jobs.run')).toEqual(['jobs.run'])
  })

  test('are not changed into nothing, nor by what contradicts itself', async () => {
    const run = on()
    for (const [options, words] of [
      [['--remove', 'services.read,deploys.create'], 'cpctl roles delete'],
      [['--permission', 'jobs.run', '--add', 'logs.read'], '--permission tells all'],
      [['--add', 'log.read'], 'Did you mean logs.read?'],
      [[], 'Nothing to change'],
    ] as const) {
      expect(await run('roles', 'update', 'Deployer', ...options)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words) })
    }
  })

  test('are deleted after their name was typed, or with --yes, and never where nobody can be asked', async () => {
    const run = on({ deleteRole: () => undefined })
    expect(await run('roles', 'delete', 'Deployer')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') })
    expect((await run('roles', 'delete', 'Deployer', '--yes')).stdout).toBe('Deleted Deployer.\n')
    await servers.stop()
    const typing = servers.on({ listRoles: () => pageOf('role', [role()]), deleteRole: () => undefined }, { typed: ['Deployer'] })
    expect((await typing('roles', 'delete', 'Deployer')).stdout).toBe('Deleted Deployer.\n')
  })

  test('that are in use say who uses them', async () => {
    const message = 'The role "Deployer" is held by 1 member (Ada). Give them another role, or remove them, first.'
    const run = on({
      deleteRole: () => {
        throw new AppError('conflict', message)
      },
    })
    expect(await run('roles', 'delete', 'Deployer', '-y')).toMatchObject({ exitCode: 1, stderr: `Error: ${message}\n` })
  })
})

test('permissions are listed with what they allow', async () => {
  const run = on()
  const { stdout } = await run('permissions')
  expect(stdout.split('\n')).toHaveLength(permissionNames.length + 2)
  expect(stdout).toMatch(/^apikeys\.manage +Create, list and revoke API keys$/m)
  expect(JSON.parse((await run('permissions', '--json')).stdout)).toHaveLength(permissionNames.length)
})
