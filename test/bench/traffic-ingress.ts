/** Started by traffic.ts as a process of its own: the ingress with counters and access log, or with neither. Prints its port. */
import { runIngress } from '../../server/ingress/process/main.ts'
import { TrafficCounters } from '../../server/ingress/traffic/counters.ts'

if (import.meta.main) {
  const [kind, controlSocketPath = '', routesFilePath = '', accessLogDir = ''] = process.argv.slice(2)
  if (kind === 'without') TrafficCounters.prototype.count = () => {}
  const ingress = await runIngress({
    ...{ listen: { host: '127.0.0.1', port: 0 }, controlSocketPath, routesFilePath, version: 'bench', trustedProxies: [] },
    ...(kind === 'with' ? { accessLogDir } : {}),
    log: (line) => process.stderr.write(`${line}\n`),
  })
  console.log(ingress.address.port)
  process.once('SIGTERM', () => void ingress.close())
}
