import { findFreePort } from '../../server/engines/process/network/free-port.ts'
import type { Paths } from '../../server/platform/paths.ts'
import { spawnProcess } from '../../server/platform/process/spawn.ts'
import { childProgram } from './child-programs.ts'

/** Away from the ports of instances and of outgoing connections. */
const INGRESS_PORTS = { first: 15_000, last: 18_999 }

export interface TestIngress {
  address: string
  /** Where it serves https; empty when it was started without. */
  tlsAddress: string
  pid: number
  /** Asks for a path of a host, as a browser would. */
  visit(host: string, path?: string): Promise<{ status: number; text: string }>
  close(): Promise<void>
}

type IngressPaths = Pick<Paths, 'ingressSocket' | 'routesFile' | 'accessLogs' | 'certificatesFile' | 'masterKey'>

export interface IngressPorts {
  http: number
  https: number
}

export interface TestIngressOptions {
  /** Serves https as well, with the certificates that the control plane gives it. */
  tls?: IngressPorts
  /** Lets clients in to Postgres databases, too; needs `tls`. */
  postgresPort?: number
}

/** Ports for an ingress that others have to know before it starts. */
export async function chooseIngressPorts(): Promise<IngressPorts> {
  const http = findFreePort(INGRESS_PORTS, new Set())
  return { http, https: findFreePort(INGRESS_PORTS, new Set([http])) }
}

/** The real ingress, in a process of its own as in production, with its control socket at the usual place. */
export async function startTestIngress(paths: IngressPaths, { tls, postgresPort }: TestIngressOptions = {}): Promise<TestIngress> {
  const port = tls?.http ?? findFreePort(INGRESS_PORTS, new Set())
  const tlsArguments =
    tls === undefined
      ? []
      : [String(tls.https), paths.certificatesFile, paths.masterKey, ...(postgresPort === undefined ? [] : [String(postgresPort)])]
  const script = await childProgram('ingress-child')
  const child = spawnProcess(
    [process.execPath, script, String(port), paths.ingressSocket, paths.routesFile, paths.accessLogs, ...tlsArguments],
    {
      stdout: 'pipe',
      stderr: 'stdout',
    },
  )
  await firstWords(child.stdout)
  const address = `127.0.0.1:${port}`
  return {
    address,
    tlsAddress: tls === undefined ? '' : `127.0.0.1:${tls.https}`,
    pid: child.pid,
    async visit(host, path = '/') {
      const response = await fetch(`http://${address}${path}`, { headers: { host }, redirect: 'manual' })
      return { status: response.status, text: await response.text() }
    },
    async close() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

/** Returns once the child has said that it serves. @throws Error with what it said instead. */
async function firstWords(output: ReadableStream<Uint8Array> | undefined): Promise<void> {
  let words = ''
  for await (const chunk of output ?? []) {
    words += new TextDecoder().decode(chunk)
    if (words.includes('Serving at')) return
  }
  throw new Error(`The ingress did not start: ${words}`)
}
