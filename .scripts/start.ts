/** `npm start`: runs the compiled server on ./data with a sample app deployed, and prints where and how to log in. */
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'

const SAMPLE = 'test/fixtures/apps/hello-js'
const READY_TIMEOUT_MS = 30_000

const dataDir = resolve(process.env.CP_DATA_DIR ?? 'data')
const listen = process.env.CP_LISTEN ?? '127.0.0.1:8400'
const ingress = process.env.CP_INGRESS_HTTP ?? '127.0.0.1:8080'
const apiUrl = process.env.CP_PUBLIC_URL ?? `http://localhost:${portOf(listen)}`

const login = await readLogin()
const server = Bun.spawn(['dist/cpd', 'serve', '--data', dataDir, '--listen', listen, '--ingress', ingress], {
  env: { ...process.env, CP_ADMIN_EMAIL: login.email, CP_ADMIN_PASSWORD: login.password, SERVICE_API_TOKEN: login.token },
  stdout: 'pipe',
  stderr: 'inherit',
})
let stopped: Promise<void> | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stopped ??= stop()
  })
}

await untilReady()
const sample = await deploySample()
console.log(`
  API          ${apiUrl}
  Swagger UI   ${apiUrl}/docs
  Login        ${login.email} / ${login.password}
  Sample app   ${sample}

  Next: dist/cpctl login --url ${apiUrl} --email ${login.email}
        cd your-app && ${resolve('dist/cpctl')} deploy
  Ctrl-C stops everything; ${dataDir} keeps it for the next start.
`)
const exitCode = await server.exited
await stopped
process.exit(exitCode)

interface Login {
  email: string
  password: string
  token: string
}

/** Made at the first start and kept beside the data it opens. */
async function readLogin(): Promise<Login> {
  const file = Bun.file(`${dataDir}/start.json`)
  if (await file.exists()) return (await file.json()) as Login
  const made = { email: 'admin@localhost', password: randomBytes(12).toString('base64url'), token: randomBytes(24).toString('base64url') }
  await mkdir(dataDir, { recursive: true })
  await Bun.write(file, JSON.stringify(made, null, 2), { mode: 0o600 })
  return made
}

async function untilReady(): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS
  while (Date.now() < deadline) {
    if (server.exitCode !== null) process.exit(server.exitCode)
    const health = await fetch(`http://${listen}/api/health`).catch(() => undefined)
    if (health?.ok) return
    await Bun.sleep(50)
  }
  console.error(`The server did not answer at ${listen} within ${READY_TIMEOUT_MS / 1000} s.`)
  server.kill()
  process.exit(1)
}

async function deploySample(): Promise<string> {
  const deploy = Bun.spawn(['dist/cpctl', 'deploy', SAMPLE, '--service', 'hello'], {
    env: { ...process.env, CPCTL_URL: `http://${listen}`, CPCTL_TOKEN: login.token },
    stdout: 'inherit',
    stderr: 'inherit',
  })
  if ((await deploy.exited) !== 0) console.error('The sample app could not be deployed; the server runs all the same.')
  const port = portOf(ingress)
  return `http://hello.${process.env.CP_BASE_DOMAIN ?? 'localhost'}${port === '80' ? '' : `:${port}`}`
}

/** Ends the control plane, then what outlives it: instances and ingress. */
async function stop(): Promise<void> {
  server.kill('SIGTERM')
  await server.exited
  await Bun.spawn(['dist/cpd', 'stop', '--data', dataDir], { env: process.env, stdout: 'inherit', stderr: 'inherit' }).exited
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1)
}
