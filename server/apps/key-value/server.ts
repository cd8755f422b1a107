import { AppError } from '../../../shared/error.ts'
import { keyValuePlans } from '../../../shared/key-value.ts'
import { pause } from '../../platform/work/clock.ts'
import type { AppContext } from '../context.ts'
import { usualPorts } from '../datastores/addresses.ts'
import type { DatastoreServer, ServerEndpoint, ServerSpec } from '../datastores/kind.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { baseEnv } from '../launch/launch.ts'
import { readFigures } from './figures.ts'
import { passwordsOf } from './passwords.ts'
import { planOf } from './plan.ts'
import { currentProgram } from './program.ts'
import { configFile } from './server/config.ts'
import { CONFIG_FILE, startCommand } from './server/start-command.ts'
import { requireRow } from './store.ts'
import { adminLogin, infoOf, shortenJournal, tendStore } from './tend.ts'

const MIB = 1024 * 1024
/** A snapshot of the largest plan is written in less. */
const GRACE_MS = 60_000
const FIGURES_EVERY_MS = 30_000
const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 1000

export const keyValueServer = (context: AppContext): DatastoreServer => ({
  port: usualPorts.key_value,
  graceMs: GRACE_MS,
  specOf: (datastore) => specOf(context, datastore),
  figures: { everyMs: FIGURES_EVERY_MS, read: (datastore, endpoint) => readFigures(context, datastore, endpoint) },
  tend: (datastore, endpoint) => tendStore(context, datastore, endpoint),
  untilReady: (datastore, endpoint, signal) => untilReady(context, { datastore, endpoint, signal }),
  // A store refuses writes by itself (MISCONF) when its journal or snapshot finds no room, and takes them again when there is some.
  fullDisk: { from: 0.99, under: 0.97 },
  // Its plan chose the size of its disk: nobody else can make it larger.
  growthStepGb: () => 1,
  fitToDisk: async (datastore, endpoint, { isChanged }) => {
    if (isChanged && datastore.diskState !== 'ok') await shortenJournal(context, datastore, endpoint)
  },
})

async function specOf(context: AppContext, datastore: StoredDatastore): Promise<ServerSpec> {
  const { name, server } = currentProgram(context)
  await context.programs.ensure(name)
  const own = requireRow(context.db, datastore.id)
  const plan = planOf(datastore)
  const { cpu, memoryMb, pids } = keyValuePlans[plan]
  const hasOwnNetwork = context.engine.capabilities.ownNetworks
  const content = configFile({ ...own, plan, user: own.id, passwords: passwordsOf(context, own), hasOwnNetwork })
  return {
    files: { programs: name },
    command: startCommand(own.laid),
    env: (view) => ({
      ...baseEnv(view),
      DATA: view.volume ?? '',
      SERVER: `${view.root}/${server}`,
      CONFIG: `${view.secrets}/${CONFIG_FILE}`,
      PORT: String(view.port),
    }),
    secretFiles: { key: keyOf(content), read: () => [{ name: CONFIG_FILE, content }] },
    limits: { cpu, memoryBytes: memoryMb * MIB, pids },
  }
}

const keyOf = (content: string): string => new Bun.CryptoHasher('sha256').update(content).digest('hex').slice(0, 32)

interface Awaited {
  datastore: StoredDatastore
  endpoint: ServerEndpoint
  signal: AbortSignal
}

/** Ready is one that has read its files. What takes longer, such as a journal that begins, goes on beside it. */
async function untilReady(context: AppContext, { datastore, endpoint, signal }: Awaited): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (await isReady(context, { datastore, endpoint, signal })) break
    await pause(context, pauseMs, signal)
  }
  await tendStore(context, datastore, endpoint)
}

async function isReady(context: AppContext, { datastore, endpoint, signal }: Awaited): Promise<boolean> {
  try {
    const login = adminLogin(context, requireRow(context.db, datastore.id))
    return await context.keyValueServers.use(endpoint, login, async (send) => !(await infoOf(send)).isLoading, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AppError) return false
    throw error
  }
}
