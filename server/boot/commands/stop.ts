import type { Command } from 'commander'
import { createIngressClient } from '../../ingress/control/client.ts'
import { lockDataDir } from '../../platform/files/lock.ts'
import { pathsOf } from '../../platform/paths.ts'
import { createServerLog } from '../../platform/server-log.ts'
import { openEngine } from '../serve/engines.ts'
import { requireDataDir } from './data-dir.ts'
import { commandWithSettings, configOf } from './settings.ts'

const GRACE_MS = 10_000

/** Everything outlives `cpd serve`: this command ends all of it, for a reboot or to move the data. */
export function stopCommand(): Command {
  const command = commandWithSettings('stop').description('Stop all instances and the ingress; the next `cpd serve` starts them again')
  return command.action(async () => {
    const config = configOf(command)
    const paths = pathsOf(config.CP_DATA_DIR, config.CP_MASTER_KEY_FILE)
    requireDataDir(paths)
    const lock = lockDataDir(paths.lock, paths.data)
    const engine = await openEngine({ paths, config, log: createServerLog((line) => process.stderr.write(line)) })
    const workloads = await engine.list()
    await Promise.all(workloads.map(({ instanceId }) => engine.stop(instanceId, { graceMs: GRACE_MS })))
    for (const { instanceId } of workloads) await engine.remove(instanceId)
    await engine.close()
    await createIngressClient(paths.ingressSocket)
      .shutdown()
      .catch(() => undefined)
    lock.release()
    process.stdout.write(`Stopped ${workloads.length} instances and the ingress.\n`)
  })
}
