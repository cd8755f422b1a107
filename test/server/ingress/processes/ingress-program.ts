import { INHERITED_VARIABLE, parseInherited } from '../../../../server/ingress/inherited.ts'
import { runIngress } from '../../../../server/ingress/main.ts'

/** The ingress as a process of its own. Arguments: port, control socket, routes file, version. */
const [port, controlSocketPath = '', routesFilePath = '', version = ''] = process.argv.slice(2)

try {
  const ingress = await runIngress({
    listen: { host: '127.0.0.1', port: Number(port) },
    controlSocketPath,
    routesFilePath,
    version,
    inherited: parseInherited(process.env[INHERITED_VARIABLE]),
    trustedProxies: [],
    log: (line) => console.log(line),
  })
  await ingress.closed
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
