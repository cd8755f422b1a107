import { join, resolve } from 'node:path'
import { runProcess } from '../../server/platform/process/spawn.ts'

/** What it takes to see each limit being kept: an app that takes what it is told to take. */
const HUNGRY = `
const { createServer } = require('node:http')
const { spawn } = require('node:child_process')
const kept = []
const acts = {
  '/': () => 'hungry',
  '/memory': () => { for (;;) kept.push(Buffer.alloc(8 * 1024 * 1024, 1)) },
  '/spin': () => { const end = Date.now() + 6000; while (Date.now() < end); return 'spun' },
  '/disk': () => { try { for (;;) require('node:fs').appendFileSync('/tmp/full', Buffer.alloc(4 * 1024 * 1024, 1)) } catch (error) { return error.code } },
  '/forks': () => { spawn('sh', ['-c', 'for n in $(seq 600); do sleep 60 & done'], { detached: true }); return 'forking' },
}
createServer(async (request, response) => response.end(String(await (acts[request.url] ?? acts['/'])())))
  .listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
`

/** Asks a service of its workspace by name. */
const ASKER = `
require('node:http').createServer(async (request, response) => {
  const answer = await fetch('http://' + request.url.slice(1), { signal: AbortSignal.timeout(20000) }).then((one) => one.text(), (error) => 'failed: ' + error.message)
  response.end(answer)
}).listen(Number(process.env.PORT), '127.0.0.1')
`

/** Writes the second disk: a tar of the executables and of the apps. Returns its path. */
export async function writePayload(dir: string, executables: string): Promise<string> {
  const files = join(dir, 'payload')
  const fixtures = resolve('test/fixtures/apps')
  for (const [name, code] of Object.entries({ hungry: HUNGRY, asker: ASKER })) {
    await Bun.write(join(files, 'apps', name, 'server.js'), code)
    await Bun.write(join(files, 'apps', name, 'package.json'), '{}')
  }
  const disk = join(dir, 'payload.tar')
  const parts = [
    '-C',
    resolve(executables),
    'cpd',
    'cpctl',
    '-C',
    files,
    'apps',
    '-C',
    fixtures,
    '--transform',
    's,^\\(hello-js\\|static-plain\\),apps/\\1,',
    'hello-js',
    'static-plain',
  ]
  const { exitCode, stderr } = await runProcess(['tar', '-cf', disk, ...parts], { env: { PATH: '/usr/bin:/bin' }, timeoutMs: 120_000 })
  if (exitCode !== 0) throw new Error(`The payload cannot be packed: ${stderr}`)
  return disk
}
