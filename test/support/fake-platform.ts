import { createApp } from '../../server/api/app/app.ts'
import { compose } from '../../server/boot/serve/compose.ts'
import { recover } from '../../server/boot/serve/recover.ts'
import { readConfig } from '../../server/boot/settings/config.ts'
import { createFakeBuilder } from '../../server/builders/fake/builder.ts'
import { createFakeEngine } from '../../server/engines/fake/engine.ts'
import { createFakeMachine, type FakeMachine } from '../../server/engines/fake/machine.ts'
import { createServerLog } from '../../server/platform/server-log.ts'
import { createFakeArtifacts } from '../../server/runtime/artifacts/fake.ts'
import { closeInTurn } from './closing.ts'
import { makeDataDir } from './data-dir.ts'
import { type Answer, visitor } from './fake-visitor.ts'
import { hurryClock } from './hurried-clock.ts'
import { idleTelemetry } from './idle-parts.ts'
import { deleteServices } from './platform.ts'
import { type RecordingIngress, recordIngress } from './recording-ingress.ts'
import { largeMachine, type TestServer, testAdmin, testStaticToken } from './server.ts'

/** A server that decides everything as the real one does, and whose builds and instances run in memory. */
export interface FakePlatform extends TestServer {
  machine: FakeMachine
  ingress: RecordingIngress
  /** Asks a service by its host name, as a visitor does: one of its routes' targets after the other answers as its program says. */
  visit(name: string, path?: string): Promise<Answer>
}

/** Tests of what takes its time can have all of that pass faster. */
export interface FakePlatformOptions {
  speed?: number
}

/** Starts it with all its work going. Commands are those of engines/fake/program.ts. */
export async function startFakePlatform(env: Record<string, string> = {}, { speed = 1 }: FakePlatformOptions = {}): Promise<FakePlatform> {
  const data = makeDataDir()
  const given = {
    CP_DATA_DIR: data.dir,
    CP_LISTEN: '127.0.0.1:0',
    CP_ADMIN_PASSWORD: testAdmin.password,
    SERVICE_API_TOKEN: testStaticToken,
    CP_RATE_LIMIT: '0',
    CP_DRAIN_SECONDS: '1',
    CP_DNS_RESOLVER: '127.0.0.1:1',
    ...env,
  }
  const config = readConfig(given, {}, process.getuid?.() === 0)
  const logged: string[] = []
  const log = createServerLog((line) => logged.push(line))
  const clock = hurryClock(speed)
  const machine = createFakeMachine(clock)
  const ingress = recordIngress()
  const artifacts = createFakeArtifacts()
  const telemetry = idleTelemetry(data.paths, log)
  const { context, work, close } = await compose({
    config,
    version: '0.0.0-test',
    log,
    parts: {
      engine: createFakeEngine(machine, { hasArtifact: artifacts.has }),
      artifacts,
      builder: createFakeBuilder(artifacts),
      ...clock,
      dial: machine.dial,
      ingress: ingress.client,
      machine: largeMachine,
      telemetry: { ...telemetry, traffic: { ...telemetry.traffic, sampledAt: clock.now } },
    },
  })
  const app = createApp(context)
  const { port } = app.listen(config.CP_LISTEN)
  await recover(context, work.keeper)
  work.start()
  return {
    url: `http://127.0.0.1:${port}`,
    db: context.db,
    context,
    adminToken: testStaticToken,
    logged,
    machine,
    ingress,
    visit: visitor({ ingress, dial: machine.dial, domain: config.CP_BASE_DOMAIN }),
    async close() {
      await closeInTurn({
        'removing services': () => deleteServices(context),
        'stopping the API': () => app.stop(),
        'closing the parts': close,
        'removing the data': data.remove,
      })
    },
  }
}
