import type { Machine } from './machine.ts'

/** A guest with `cpd` on it, told what to do in the words of a shell. */
export interface Guest {
  machine: Machine
  /** Runs a bash script and gives what it printed. @throws with all of that when it fails. */
  sh(script: string, timeoutMs?: number): Promise<string>
  /** What a service answers through the ingress. */
  visit(slug: string, path?: string): Promise<string>
  /** Asks until the script succeeds, and gives what it printed. @throws when it never does. */
  eventually(script: string, timeoutMs?: number): Promise<string>
  /** The control plane's API, with the answer parsed. */
  api<T>(path: string): Promise<T>
}

/** Where the second disk's files are put. */
export const PAYLOAD_DIR = '/opt/payload'
export const TOKEN = 'static-token-of-the-guest-0123456789'

const POLL_SECONDS = 0.5
const EVENTUALLY_MS = 120_000

export function guestOn(machine: Machine): Guest {
  const prelude = `export PATH=$PATH:${PAYLOAD_DIR} CPCTL_URL=http://127.0.0.1:8400 CPCTL_TOKEN=${TOKEN} NO_COLOR=1; cd /root\n`
  async function sh(script: string, timeoutMs?: number): Promise<string> {
    const { exitCode, output } = await machine.run(`${prelude}set -eo pipefail\n${script}`, timeoutMs)
    if (exitCode !== 0) throw new Error(`Exit code ${exitCode} of:\n${script}\n${output}`)
    return output.trim()
  }
  return {
    machine,
    sh,
    visit: (slug, path = '/') => sh(`curl -sS -m 60 -H 'Host: ${slug}.localhost' 'http://127.0.0.1${path}'`),
    async eventually(script, timeoutMs = EVENTUALLY_MS) {
      const loop = `until=$((SECONDS + ${timeoutMs / 1000})); while [ $SECONDS -lt $until ]; do if (${script}) >/tmp/eventually 2>&1; then cat /tmp/eventually; exit 0; fi; sleep ${POLL_SECONDS}; done; cat /tmp/eventually; exit 1`
      return await sh(loop, timeoutMs * 2)
    },
    async api(path) {
      return JSON.parse(await sh(`curl -sS -m 60 -H 'Authorization: Bearer ${TOKEN}' 'http://127.0.0.1:8400/v1${path}'`))
    },
  }
}
