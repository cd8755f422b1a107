import { Command } from 'commander'
import { runIngress } from '../../ingress/process/main.ts'
import { INHERITED_VARIABLE, parseInherited } from '../../ingress/sockets/inherited.ts'
import { parseAddress } from '../../platform/network/address.ts'
import { oomScores, spareFromOom } from '../../platform/process/oom-score.ts'
import { version } from '../../platform/process/self.ts'
import { surviveErrors } from '../../platform/process/survive.ts'
import { openSealer } from '../../platform/secrets/seal.ts'
import { ownEnvironment } from '../settings/environment.ts'

interface IngressFlags {
  listen: string
  listenTls?: string
  listenPostgres?: string
  listenKeyValue?: string
  keyValueHost: string
  socket: string
  routes: string
  certificates: string
  masterKey: string
  connectionsPerAddress?: string
  trust: string[]
  accessLog?: string
}

export function ingressCommand(): Command {
  return new Command('ingress')
    .description('Run the ingress (started by `cpd serve`)')
    .requiredOption('--listen <address>', 'Address at which services are reached')
    .option('--listen-tls <address>', 'Address at which they are reached by https')
    .option('--listen-postgres <address>', 'Address at which Postgres databases are reached')
    .option('--listen-key-value <address>', 'Address at which key-value stores are reached')
    .option('--key-value-host <name>', 'Name that key-value stores share', '')
    .requiredOption('--socket <path>', 'Control socket')
    .requiredOption('--routes <path>', 'File that keeps the last routes')
    .requiredOption('--certificates <path>', 'File that keeps the last certificates')
    .requiredOption('--master-key <path>', 'Key that opens the keys of the certificates')
    .option('--connections-per-address <number>', 'Connections that one client address may have; 0 is no limit')
    .option('--access-log <folder>', 'Where a line for each request is put')
    .option('--trust <cidr...>', 'Proxies whose forwarded headers count', [])
    .action(async (flags: IngressFlags) => {
      const log = (line: string) => void process.stdout.write(`${new Date().toISOString()} ${line}\n`)
      spareFromOom(oomScores.ingress)
      surviveErrors({ error: (event, details) => log(`${event}: ${JSON.stringify(details)}`) })
      const ingress = await runIngress({
        listen: parseAddress(flags.listen),
        controlSocketPath: flags.socket,
        routesFilePath: flags.routes,
        tls: {
          ...(flags.listenTls === undefined ? {} : { listen: parseAddress(flags.listenTls) }),
          certificatesFilePath: flags.certificates,
          openKey: (sealed, purpose) => openSealer(flags.masterKey, sealed).open(sealed, purpose),
        },
        databases: {
          ...(flags.listenPostgres === undefined ? {} : { postgres: parseAddress(flags.listenPostgres) }),
          ...(flags.listenKeyValue === undefined
            ? {}
            : { keyValue: { listen: parseAddress(flags.listenKeyValue), host: flags.keyValueHost } }),
        },
        version,
        inherited: parseInherited(ownEnvironment()[INHERITED_VARIABLE]),
        trustedProxies: flags.trust,
        ...(flags.accessLog === undefined ? {} : { accessLogDir: flags.accessLog }),
        ...(flags.connectionsPerAddress === undefined ? {} : { limits: { maxConnectionsPerAddress: Number(flags.connectionsPerAddress) } }),
        log,
      })
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void ingress.close())
      await ingress.closed
      process.exit(0)
    })
}
