import { environment } from '../base/config.ts'
import { RemoteExit } from '../base/error.ts'

export const findClient = (): string | undefined => Bun.which('valkey-cli') ?? Bun.which('redis-cli') ?? undefined

export interface Destination {
  url: string
  words: readonly string[]
  isInsecure: boolean
}

/** Arguments of valkey-cli and redis-cli, which have the password in their environment, where other users do not see it. */
export function clientArguments({ url, words, isInsecure }: Destination): { args: string[]; env: { REDISCLI_AUTH: string } } {
  const { hostname, port, username, password, protocol } = new URL(url)
  const tls = protocol === 'rediss:' ? ['--tls', '--sni', hostname, ...(isInsecure ? ['--insecure'] : [])] : []
  return {
    args: ['-h', isHere(hostname) ? '127.0.0.1' : hostname, '-p', port, '--user', username, ...tls, ...words],
    env: { REDISCLI_AUTH: password },
  }
}

/** Names below localhost are this machine (RFC 6761), which C libraries without a resolver for them do not know. */
const isHere = (hostname: string): boolean => hostname.endsWith('.localhost')

/** Hands the terminal to the program. @throws RemoteExit with its exit code where that is not 0. */
export async function runClient(program: string, to: Destination): Promise<void> {
  const { args, env } = clientArguments(to)
  const child = Bun.spawn([program, ...args], { env: { ...environment(), ...env }, stdio: ['inherit', 'inherit', 'inherit'] })
  const ignore = () => {}
  process.on('SIGINT', ignore)
  const exitCode = await child.exited.finally(() => process.off('SIGINT', ignore))
  if (exitCode !== 0) throw new RemoteExit({ exitCode, signal: null })
}
