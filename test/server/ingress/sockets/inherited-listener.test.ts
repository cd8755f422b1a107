import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { spawnProcess } from '../../../../server/platform/process/spawn.ts'

/** What Bun's types do not know: `fd` of a listening socket, and `listen` on a descriptor. */

const successor = `
const listener = Bun.listen({ fd: 3, socket: { open: (socket) => { socket.end('successor') }, data() {} } })
console.log('fd ' + listener.fd + ' port ' + listener.port)`

interface WithDescriptor {
  fd: number
}

async function greeting(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let text = ''
  await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_, bytes) => {
        text += bytes.toString()
      },
      close: () => resolve(text),
      error: (_, error) => reject(error),
    },
  })
  return promise
}

test('a child goes on listening on an inherited descriptor, none is refused, and no other descriptor is open in it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-inherited-'))
  writeFileSync(join(dir, 'successor.ts'), successor)
  const open = (socket: Bun.Socket) => {
    socket.end('predecessor')
  }
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open, data() {} } })
  const { fd } = listener as unknown as WithDescriptor
  expect(fd).toBeGreaterThan(2)
  const { port } = listener
  const child = spawnProcess([process.execPath, join(dir, 'successor.ts')], { stdout: 'pipe', inherit: [fd] })
  const said = await child.stdout?.getReader().read()
  // The port is not known there, which is why the address is handed over beside the descriptor.
  expect(new TextDecoder().decode(said?.value)).toBe('fd 3 port undefined\n')
  for (let count = 0; count < 20; count++) expect(['predecessor', 'successor']).toContain(await greeting(port))
  listener.stop()
  for (let count = 0; count < 20; count++) expect(await greeting(port)).toBe('successor')
  const otherPort = other.port
  other.stop(true)
  await expect(greeting(otherPort)).rejects.toThrow()
  child.kill('SIGKILL')
  await child.exited
  rmSync(dir, { recursive: true })
})
