import type { Service } from '../../shared/service.ts'
import type { SleepMode } from '../../shared/service-controls.ts'
import type { Platform } from './platform.ts'
import { makeService, type TestService } from './service.ts'
import { until } from './until.ts'

/** Answers with its version and process, takes bodies, echoes on WebSockets, and takes its time where it is asked to. */
export const sleeperApp = {
  'server.ts': `
    const version = (await Bun.file(new URL('VERSION', import.meta.url)).text()).trim()
    Bun.serve({
      hostname: '127.0.0.1',
      port: Number(process.env.PORT),
      idleTimeout: 0,
      async fetch(request, server) {
        const { pathname } = new URL(request.url)
        if (pathname === '/echo') return server.upgrade(request) ? undefined : new Response('expected a WebSocket', { status: 426 })
        if (pathname === '/slow') await Bun.sleep(2500)
        if (request.method === 'POST') return new Response(String((await request.bytes()).length))
        return new Response('sleeper ' + version + ' ' + process.pid + '\\n')
      },
      websocket: { message: (socket, message) => void socket.send(message) },
    })
    process.on('SIGTERM', () => process.exit(0))`,
}

/** A service that sleeps after a second, which people cannot set. */
export interface Sleeper extends TestService {
  mode: Exclude<SleepMode, 'off'>
  service(): Promise<Service>
  /** Waits until it sleeps: its instances are frozen, or gone. */
  sleeps(): Promise<void>
  /** How often it has slept and been woken, and why. */
  wakes(): Promise<unknown[]>
  visit(path?: string): Promise<{ status: number; text: string }>
}

export async function makeSleeper(
  platform: Platform,
  { name, mode, ...details }: { name: string; mode: Sleeper['mode'] } & Record<string, unknown>,
): Promise<Sleeper> {
  const made = await makeService(platform, { name, serviceDetails: { sleep: { mode, idleSeconds: 60 }, ...details } })
  hurry(platform, made.id)
  await made.goLive('websocket-sse', sleeperApp)
  const sleeper: Sleeper = {
    ...made,
    mode,
    service: async () => (await made.ask<Service>('')).body,
    async sleeps() {
      await until(`${name} is asleep`, async () => (await sleeper.service()).serviceDetails.asleepAt !== undefined)
      const isAtRest = async () => (await made.instances()).every(({ status }) => mode === 'freeze' && status === 'asleep')
      await until(`the instances of ${name} are at rest`, isAtRest)
    },
    wakes: async () => (await made.events()).filter(({ type }) => type === 'service_woke').map(({ details }) => details.because),
    visit: (path) => platform.ingress.visit(`${name}.localhost`, path),
  }
  return sleeper
}

/** Has it fall asleep after a second. */
export function hurry({ db, context }: Pick<Platform, 'db' | 'context'>, serviceId: string): void {
  db.query("UPDATE services SET controls = json_set(controls, '$.sleep.idleSeconds', 1) WHERE id = ?").run(serviceId)
  context.work.poke('service', serviceId)
}
