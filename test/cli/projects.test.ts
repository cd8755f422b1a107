import { describe, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import { exampleProject } from './examples.ts'
import { servingPlaces, shop } from './places.ts'
import { serverPerTest } from './server-per-test.ts'

const { on, received } = serverPerTest()

describe('projects', () => {
  test('are listed with their environments', async () => {
    const run = on(servingPlaces())
    expect((await run('projects', 'list')).stdout).toBe(
      [
        'NAME  ENVIRONMENTS         SERVICES  UPDATED  ID',
        'shop  staging, production         0  1h ago   prj-0b1c2d3e4f5g6h7i8j9k',
        'blog  staging                     0  1h ago   prj-1b1c2d3e4f5g6h7i8j9k',
        '',
      ].join('\n'),
    )
    expect(JSON.parse((await run('projects', 'list', '--json')).stdout)[0]).toEqual(shop)
  })

  test('are made with environments', async () => {
    const run = on({ createProject: () => shop })
    expect(await run('projects', 'create', 'shop', '--environment', 'production,staging')).toMatchObject({
      exitCode: 0,
      stdout: `Created shop (${shop.id}) with production, staging.\n`,
    })
    expect(received().at(-1)?.body).toEqual({ name: 'shop', environments: [{ name: 'production' }, { name: 'staging' }] })
    expect(await run('projects', 'create', 'shop/test')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('environments create shop/test'),
    })
    expect((await run('projects', 'create', 'shop')).stderr).toContain('cpctl environments create shop/production')
  })

  test('are shown by name and by id', async () => {
    const run = on(servingPlaces())
    for (const name of ['shop', shop.id])
      expect((await run('projects', 'show', name)).stdout).toMatch(/Name: +shop\n[\s\S]*shop\/production +0 +0 +yes +yes/)
    expect(JSON.parse((await run('projects', 'get', 'shop', '--json')).stdout)).toEqual(shop)
  })

  test('that were mistyped are told', async () => {
    expect(await on(servingPlaces())('projects', 'show', 'shpo')).toMatchObject({
      exitCode: 1,
      stderr: 'Error: There is no project shpo.\nDid you mean shop? cpctl projects list shows all.\n',
    })
  })

  test('are renamed', async () => {
    const run = on({ ...servingPlaces(), updateProject: () => exampleProject({ name: 'store' }) })
    expect((await run('projects', 'rename', 'shop', 'store')).stdout).toBe('shop is named store now.\n')
    expect(received().at(-1)).toMatchObject({ params: { projectId: shop.id }, body: { name: 'store' } })
  })

  test('are deleted once their name was typed', async () => {
    const run = on({ ...servingPlaces(), deleteProject: () => undefined }, { typed: ['blog', 'shop'] })
    expect((await run('projects', 'delete', 'shop')).exitCode).toBe(2)
    expect(received().some(({ id }) => id === 'deleteProject')).toBe(false)
    expect((await run('projects', 'delete', 'shop', '--yes')).stdout).toBe('Deleted shop.\n')
  })

  test('that hold something are not deleted, and what it is is told', async () => {
    const run = on({
      ...servingPlaces(),
      deleteProject: () => {
        throw new AppError('conflict', 'The project shop is not empty: production holds web.')
      },
    })
    expect(await run('projects', 'delete', 'shop', '--yes')).toMatchObject({
      exitCode: 1,
      stderr: 'Error: The project shop is not empty: production holds web.\n',
    })
  })
})
