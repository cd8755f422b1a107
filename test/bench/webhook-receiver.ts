/** Started by webhooks.ts as a process of its own. Takes every POST, and tells by GET how many there were. */
let count = 0
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    if (request.method === 'GET') return new Response(String(count))
    await request.text()
    count++
    return new Response(null, { status: 204 })
  },
})
console.log(server.port)
