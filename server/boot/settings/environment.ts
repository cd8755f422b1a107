const loopback = ['127.0.0.1', '::1', 'localhost']

/** Everything this process was given, for the one that takes its place. */
export const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined))

/** The arguments this process was started with, after the executable. */
export const ownArguments = (): string[] => process.argv.slice(2)

/**
 * Keeps what we ask of this machine off a proxy that the environment names for the world outside: `fetch` would send even that there.
 * Each spelling of the variable counts for somebody.
 */
export function reachLoopbackDirectly(env: Record<string, string | undefined> = process.env): void {
  for (const name of ['NO_PROXY', 'no_proxy']) {
    const listed = env[name] ?? env.NO_PROXY ?? env.no_proxy
    env[name] = [...new Set([...(listed ?? '').split(',').filter(Boolean), ...loopback])].join(',')
  }
}
