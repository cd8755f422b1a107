/** Started by api.ts as a process of its own, so that server and loader do not share a core. Prints where it listens. */
import { call } from '../support/client.ts'
import { makeKey } from '../support/members.ts'
import { startTestServer } from '../support/server.ts'

if (import.meta.main) {
  const server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000000' } })
  const created = await call<{ service: { id: string } }>(`${server.url}/v1/services`, {
    json: { type: 'web_service', name: 'web', serviceDetails: { runtime: 'node', plan: 'starter', healthCheckPath: '/health' } },
    token: server.adminToken,
  })
  const path = `/v1/services/${created.body.service.id}`
  const { secret } = await makeKey(server, 'viewer')
  const answer = JSON.stringify((await call(server.url + path, { token: secret })).body)
  const bare = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(answer, { headers: { 'Content-Type': 'application/json; charset=utf-8' } }),
  })
  console.log(JSON.stringify({ port: Number(new URL(server.url).port), barePort: bare.port, path, token: secret }))
  await Bun.stdin.text()
  bare.stop(true)
  await server.close()
}
