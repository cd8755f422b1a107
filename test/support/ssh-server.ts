import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from './free-ports.ts'
import { makeRepository, type TestRepository } from './git-server.ts'
import { until } from './until.ts'

/** OpenSSH's sshd on loopback, with repositories of real git behind it. */
export interface SshServer {
  port: number
  /** Its fingerprint, as `ssh-keygen -l` shows it. */
  fingerprint(): string
  /** Lets these public keys in, and no others. */
  letIn(...publicKeys: string[]): void
  /** Begins anew, with another key that it is known by. */
  changeHostKey(): Promise<void>
  /** Runs this instead of what a client asks for; undefined runs that. */
  answerWith(command: string | undefined): Promise<void>
  make(name: string): TestRepository
  close(): Promise<void>
}

export async function startSshServer(): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cpd-test-ssh-'))
  const [port = 0] = freePorts(1)
  const user = run(['id', '-un']).trim()
  const [hostKey, letInFile] = [join(folder, 'host_key'), join(folder, 'let_in')]
  writeFileSync(letInFile, '')
  let forced: string | undefined
  let sshd: Bun.Subprocess | undefined
  const stop = async () => {
    sshd?.kill()
    await sshd?.exited
  }
  const restart = async () => {
    await stop()
    sshd = await startSshd(folder, { port, hostKey, letInFile, forced })
  }
  makeHostKey(hostKey)
  await restart()
  return {
    port,
    fingerprint: () => run(['ssh-keygen', '-l', '-f', `${hostKey}.pub`]).split(' ')[1] ?? '',
    letIn: (...publicKeys) => writeFileSync(letInFile, publicKeys.map((key) => `${key}\n`).join('')),
    async changeHostKey() {
      makeHostKey(hostKey)
      await restart()
    },
    async answerWith(command) {
      forced = command
      await restart()
    },
    make: (name) => makeRepository(join(folder, name), `ssh://${user}@localhost:${port}${join(folder, name)}`),
    async close() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Serving {
  port: number
  hostKey: string
  letInFile: string
  forced: string | undefined
}

async function startSshd(folder: string, { port, hostKey, letInFile, forced }: Serving): Promise<Bun.Subprocess> {
  const config = {
    ...{ ListenAddress: '127.0.0.1', Port: port, HostKey: hostKey, AuthorizedKeysFile: letInFile, PidFile: 'none' },
    ...{ StrictModes: 'no', UsePAM: 'no', PermitRootLogin: 'prohibit-password', PasswordAuthentication: 'no' },
    ...(forced !== undefined && { ForceCommand: forced }),
  }
  const file = join(folder, 'sshd_config')
  writeFileSync(
    file,
    Object.entries(config)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  )
  // Where sshd of root leaves its rights behind; the package's own unit makes it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const sshd = Bun.spawn(['/usr/sbin/sshd', '-D', '-e', '-f', file], { stdio: ['ignore', 'ignore', Bun.file(join(folder, 'log'))] })
  await until('sshd listens', () => run(['ssh-keyscan', '-T', '1', '-p', String(port), '127.0.0.1']) !== '')
  return sshd
}

function makeHostKey(file: string): void {
  for (const path of [file, `${file}.pub`]) rmSync(path, { force: true })
  run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', file])
}

const run = (argv: string[]): string => Bun.spawnSync(argv, { stderr: 'ignore' }).stdout.toString()
