/** A process of its own that is the ingress; it takes its address and files as arguments and says so when it serves. */
import { runIngress } from '../../server/ingress/process/main.ts'
import { openSealer } from '../../server/platform/secrets/seal.ts'

const [
  port = '',
  controlSocketPath = '',
  routesFilePath = '',
  accessLogDir = '',
  tlsPort,
  certificatesFilePath = '',
  masterKey = '',
  postgresPort,
] = process.argv.slice(2)
const ingress = await runIngress({
  listen: { host: '127.0.0.1', port: Number(port) },
  controlSocketPath,
  routesFilePath,
  accessLogDir,
  ...(tlsPort !== undefined && {
    tls: {
      listen: { host: '127.0.0.1', port: Number(tlsPort) },
      certificatesFilePath,
      openKey: (sealed, purpose) => openSealer(masterKey, sealed).open(sealed, purpose),
    },
  }),
  ...(postgresPort !== undefined && { databases: { postgres: { host: '127.0.0.1', port: Number(postgresPort) } } }),
  version: '0.0.0-test',
  trustedProxies: [],
  log: (line) => console.log(line),
})
process.on('SIGTERM', () => void ingress.close())
await ingress.closed
process.exit(0)
