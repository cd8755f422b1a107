import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import type { WebhookEvent } from '../../shared/webhook.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { type HookReceiver, isVerified, startReceiver } from '../support/hook-receiver.ts'
import { until } from '../support/until.ts'
import { deliverThroughKills } from '../support/webhook-kills.ts'

const python = `node_modules/.cache/standardwebhooks-1.1.0/bin/python`

/** Answers 204 to what the library of Standard Webhooks takes, and 401 to anything else. */
const receiverInPython = `
from http.server import BaseHTTPRequestHandler, HTTPServer
from standardwebhooks import Webhook
class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            Webhook(self.path[1:].replace(".", "/")).verify(body, {k.lower(): v for k, v in self.headers.items()})
            self.send_response(204)
        except Exception:
            self.send_response(401)
        self.end_headers()
    def log_message(self, *_):
        pass
server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
`

let cpd: Compiled
let inPython: SpawnedProcess
let pythonUrl: string
let receiver: HookReceiver

beforeAll(async () => {
  cpd = await startCompiled({ env: { CP_OUTGOING_ALLOW: '127.0.0.0/8' } })
  receiver = startReceiver()
  inPython = spawnProcess([python, '-c', receiverInPython], { env: {}, stdout: 'pipe' })
  for await (const chunk of inPython.stdout ?? []) {
    pythonUrl = `http://127.0.0.1:${new TextDecoder().decode(chunk).trim()}`
    break
  }
})
afterAll(async () => {
  inPython.kill('SIGKILL')
  receiver.close()
  await cpd.stop()
})

const cpctl = async (...args: string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await cpd.cpctl(args)
  expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: expect.any(String) })
  return stdout
}

test('a receiver in Python and one in JavaScript verify what the executable sends', async () => {
  const secretInPython = (await cpctl('webhooks', 'create', 'python', pythonUrl)).trim()
  // The receiver is told its secret by the path, in which a slash would part it.
  await cpctl('webhooks', 'update', 'python', '--to', `${pythonUrl}/${secretInPython.replaceAll('/', '.')}`)
  const secret = (await cpctl('webhooks', 'create', 'javascript', receiver.url, '--event', 'service_created')).trim()
  await cpd.api('/services', { json: { type: 'web_service', name: 'shop' } })
  const attempts = await until('python has been sent it', async () => {
    const sent = JSON.parse(await cpctl('webhooks', 'deliveries', 'python', '--json')) as WebhookEvent[]
    return sent.length > 0 && sent
  })
  expect(attempts).toMatchObject([{ eventType: 'service_created', attempt: 1, statusCode: 204 }])
  const [got] = await receiver.got(1)
  expect(got && isVerified(secret, got)).toBe(true)
  expect(await cpctl('webhooks', 'test', 'python')).toContain('python took it: 204')
  await cpctl('webhooks', 'rotate', 'python')
  // Both secrets sign, and the receiver has the old one.
  expect(await cpctl('webhooks', 'test', 'python')).toContain('python took it: 204')
  await cpctl('webhooks', 'rotate', 'python')
  expect((await cpd.cpctl(['webhooks', 'test', 'python'])).stderr).toContain('It answered 401')
})

test('killed again and again while it sends: every event arrives, and its bytes are the same each time', async () => {
  const outcome = await deliverThroughKills({ events: 200, kills: 4, seed: 1 })
  expect(outcome).toMatchObject({ missing: [], altered: [], unverified: 0 })
  expect(outcome.events).toBeGreaterThanOrEqual(200)
})
