import { call } from '../support/client.ts'
import type { TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

/**
 * Tells what it sees of paths (`/look?path=…`), and exchanges `app` in a source for a link as soon as it may (`/exchange?dir=…&target=…`): a
 * moment later, so that the source has been found and is about to be read.
 */
export const HOSTILE_APP = `
const { accessSync, constants, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

function look(path) {
  try {
    if (!statSync(path).isDirectory()) return 'read ' + readFileSync(path).length + ' bytes'
    statSync(path + '/.')
    try { return 'saw ' + readdirSync(path).join(' ') } catch { return 'entered' }
  } catch (error) {
    return error.code
  }
}

function change(path) {
  try {
    writeFileSync(path, 'changed')
    return 'changed'
  } catch (error) {
    return error.code
  }
}

function exchange(dir, target) {
  try {
    accessSync(dir, constants.W_OK)
    setTimeout(() => {
      renameSync(join(dir, 'app'), join(dir, 'real'))
      symlinkSync(target, join(dir, 'app'))
    }, 3)
  } catch {
    setTimeout(() => exchange(dir, target), 1)
  }
}

require('node:http').createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://x')
  if (pathname === '/look') return response.end(JSON.stringify(searchParams.getAll('path').map(look)))
  if (pathname === '/change') return response.end(JSON.stringify(searchParams.getAll('path').map(change)))
  if (pathname === '/exchange') exchange(searchParams.get('dir'), searchParams.get('target'))
  response.end('begun')
}).listen(Number(process.env.PORT))
`

/** What builds of a service have logged, once its last line is there. */
export async function buildLogOf(server: Pick<TestServer, 'url' | 'adminToken'>, serviceId: string): Promise<string> {
  return await until('the build has logged its end', async () => {
    const path = `${server.url}/v1/logs?resource=${serviceId}&limit=100&direction=backward`
    const { body } = await call<{ logs: { message: string }[] }>(path, { token: server.adminToken })
    const text = body.logs.map(({ message }) => message).join('\n')
    return text.includes('==> Build succeeded') && text
  })
}
