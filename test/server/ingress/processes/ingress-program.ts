import { runIngress } from '../../../../server/ingress/process/main.ts'
import { INHERITED_VARIABLE, parseInherited } from '../../../../server/ingress/sockets/inherited.ts'

/**
 * The ingress as a process of its own. Arguments: port, control socket, routes file, version; port for TLS and file of certificates,
 * whose keys stand there in clear; port for databases.
 */
const [port, controlSocketPath = '', routesFilePath = '', version = '', tlsPort, certificatesFilePath = '', postgresPort] =
  process.argv.slice(2)

try {
  const ingress = await runIngress({
    listen: { host: '127.0.0.1', port: Number(port) },
    controlSocketPath,
    routesFilePath,
    version,
    inherited: parseInherited(process.env[INHERITED_VARIABLE]),
    trustedProxies: [],
    ...(tlsPort !== undefined && {
      tls: { listen: { host: '127.0.0.1', port: Number(tlsPort) }, certificatesFilePath, openKey: (sealed: string) => sealed },
    }),
    ...(postgresPort !== undefined && { databases: { postgres: { host: '127.0.0.1', port: Number(postgresPort) } } }),
    log: (line) => console.log(line),
  })
  await ingress.closed
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
