import { ensureIngress, type IngressStart } from '../../../../server/ingress/process/supervise.ts'

/** A control plane that does nothing but start the ingress, to be killed. Argument: an IngressStart without its log, as JSON. */
const start: Omit<IngressStart, 'log'> = JSON.parse(process.argv[2] ?? '')
await ensureIngress({ ...start, log: () => {} })
console.log('ready')
setInterval(() => {}, 1000)
