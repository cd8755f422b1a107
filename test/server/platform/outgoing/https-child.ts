/** Sends one request over https to a name that leads to an address, trusting the authority in NODE_EXTRA_CA_CERTS, and prints what came. */
import { sendOutgoing } from '../../../../server/platform/outgoing/send.ts'

const [url = '', address = ''] = process.argv.slice(2)
const host = new URL(url).hostname
const options = { namedHosts: new Set([host]), allowedRanges: [], lookup: async () => [address], timeoutMs: 5000 }
const outcome = await sendOutgoing({ url: new URL(url), method: 'GET', headers: new Headers() }, options).then(
  async (response) => `${response.status} ${await response.text()}`,
  (error: Error) => `${error.name} ${(error.cause as { code?: string } | undefined)?.code}`,
)
console.log(outcome)
