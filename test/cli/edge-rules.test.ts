import { afterEach, expect, test } from 'vitest'
import type { ServiceHeader, ServiceRoute } from '../../shared/edge-rule.ts'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const header: ServiceHeader = { id: 'hdr-0b1c2d3e4f5g6h7i8j9k', path: '/*', name: 'X-Frame-Options', value: 'DENY' }
const redirect: ServiceRoute = { id: 'rdr-0b1c2d3e4f5g6h7i8j9k', type: 'redirect', source: '/old', destination: '/new', priority: 0 }
const rewrite: ServiceRoute = { id: 'rdr-1b1c2d3e4f5g6h7i8j9k', type: 'rewrite', source: '/*', destination: '/index.html', priority: 1 }

function serving(answers: Answers = {}) {
  server = startFakeServer({
    listServices: () => pageOf('service', [exampleService()]),
    listHeaders: () => pageOf('header', [header]),
    listRoutes: () => pageOf('route', [redirect, rewrite]),
    replaceHeaders: () => [header],
    replaceRoutes: () => [redirect],
    ...answers,
  })
  return (...argv: string[]) => cpctl(argv, { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test', NO_COLOR: '1' } })
}
const sent = (id: string) => server.received.findLast((call) => call.id === id)?.body

test('headers are listed, set in the place of the same one, and removed', async () => {
  const run = serving()
  expect((await run('headers', 'list')).stdout).toBe('PATH  HEADER           VALUE\n/*    X-Frame-Options  DENY\n')
  expect((await run('headers', 'set', 'web', '/*', 'x-frame-options', 'SAMEORIGIN')).stdout).toBe('web sets x-frame-options on /* now.\n')
  expect(sent('replaceHeaders')).toEqual([{ path: '/*', name: 'x-frame-options', value: 'SAMEORIGIN' }])
  await run('headers', 'set', '/a/*', 'X-A', '1', '--service', 'web')
  expect(sent('replaceHeaders')).toEqual([
    { path: '/*', name: 'X-Frame-Options', value: 'DENY' },
    { path: '/a/*', name: 'X-A', value: '1' },
  ])
  await run('headers', 'remove', '/*', 'X-Frame-Options')
  expect(sent('replaceHeaders')).toEqual([])
  expect(await run('headers', 'remove', '/*', 'X-None')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('web sets no X-None on /*.'),
  })
})

test('redirects and rewrites are each listed, added at their place, and removed', async () => {
  const run = serving()
  expect((await run('redirects', 'list', 'web')).stdout).toBe('SOURCE  DESTINATION  PRIORITY\n/old    /new                0\n')
  expect((await run('rewrites', 'list')).stdout).toContain('/index.html')
  await run('redirects', 'add', '/shop', 'https://shop.example.com', '--priority', '0')
  expect(sent('replaceRoutes')).toEqual([
    { type: 'redirect', source: '/shop', destination: 'https://shop.example.com' },
    { type: 'redirect', source: '/old', destination: '/new' },
    { type: 'rewrite', source: '/*', destination: '/index.html' },
  ])
  await run('redirects', 'add', 'web', '/old', '/newer')
  expect(sent('replaceRoutes')).toEqual([
    { type: 'rewrite', source: '/*', destination: '/index.html' },
    { type: 'redirect', source: '/old', destination: '/newer' },
  ])
  await run('rewrites', 'remove', '/*')
  expect(sent('replaceRoutes')).toEqual([{ type: 'redirect', source: '/old', destination: '/new' }])
  expect(server.received.at(-1)?.params).toEqual({ serviceId })
  expect(await run('rewrites', 'add', '/*', 'https://x.example.com')).toMatchObject({ exitCode: 2 })
})
