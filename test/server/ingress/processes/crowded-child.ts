import { runIngress } from '../../../../server/ingress/process/main.ts'

/** The ingress as a process of its own that takes any number of connections of one address. Arguments: folder, milliseconds a connection may be idle. */
const [dir = '', keepAliveMs] = process.argv.slice(2)

const ingress = await runIngress({
  listen: { host: '127.0.0.1', port: 0 },
  controlSocketPath: `${dir}/ingress.sock`,
  routesFilePath: `${dir}/routes.json`,
  version: 'test',
  trustedProxies: [],
  limits: { maxConnectionsPerAddress: 0, keepAliveMs: Number(keepAliveMs) },
  log: (line) => console.log(line),
})
await ingress.closed
