const loopback = ['127.0.0.1', '::1', 'localhost']

export const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined))

export const ownArguments = (): string[] => process.argv.slice(2)

/** Keeps requests to this machine, those of `fetch` too, off a proxy of the environment. Each spelling of the variable counts for some library. */
export function reachLoopbackDirectly(env: Record<string, string | undefined> = process.env): void {
  for (const name of ['NO_PROXY', 'no_proxy']) {
    const listed = env[name] ?? env.NO_PROXY ?? env.no_proxy
    env[name] = [...new Set([...(listed ?? '').split(',').filter(Boolean), ...loopback])].join(',')
  }
}
