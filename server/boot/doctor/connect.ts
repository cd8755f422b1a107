import type { DoctorApp } from './apps.ts'
import { CONNECTIONS } from './place.ts'
import type { TryResult } from './red-team/attempt.ts'
import type { World } from './sandbox-world.ts'

const NAME = 'doctor-connections'
const MIB = 1024 * 1024
const START_TIMEOUT_MS = 30_000
const POLL_MS = 20

const connector: DoctorApp = {
  name: 'connections',
  command: 'exec bun connect.js',
  files: {
    'connect.js': `
const { connect, createServer } = require('node:net')
const port = Number(process.env.PORT)
const kept = []
const open = () => new Promise((done) => {
  const socket = connect({ host: '${NAME}', port, family: 4 })
  socket.once('connect', () => done(kept.push(socket) > 0)).once('error', () => done(false)).setTimeout(5000, () => done(false))
})
createServer((socket) => socket.on('error', () => {})).listen(port, '0.0.0.0', async () => {
  for (let tries = 0; tries < 100 && !(await open()); tries++) await new Promise((next) => setTimeout(next, 50))
  while (kept.length > 0 && kept.length <= ${CONNECTIONS} && (await open()));
  console.log('connections: ' + kept.length + '.')
  setInterval(() => {}, 1000)
})
`,
  },
  limits: { cpu: 1, memoryBytes: 256 * MIB, pids: 64 },
}

export async function tryToConnect(world: World): Promise<TryResult> {
  const app = await world.start(connector)
  const { ownerId, networkId, instanceId } = app
  await world.engine.link([{ ownerId, number: 2, networkId, names: [NAME], instanceIds: [instanceId] }])
  let count: number | undefined
  for (const end = performance.now() + START_TIMEOUT_MS; count === undefined && performance.now() < end; await Bun.sleep(POLL_MS))
    count = countIn(await app.output())
  await app.remove()
  return {
    id: 'connections',
    title: 'takes more of the connections of the machine than its share',
    guarantee: 'connection-limit',
    attempted: count === undefined ? 0 : 1,
    succeeded: count !== undefined && count > CONNECTIONS ? [`${count} of ${CONNECTIONS} connections`] : [],
  }
}

function countIn(output: string): number | undefined {
  const [, count] = /^connections: (\d+)\.$/m.exec(output) ?? []
  return count === undefined ? undefined : Number(count)
}
