/** `npm run bench [name …]`: prints the figures of server/docs/measurements.md, each as a ratio to a peer measured on this machine in the same run. */
const names = [
  'deploy',
  'install',
  'git-push',
  'git-fetch',
  'toolchains',
  'instance-start',
  'api',
  'auth',
  'idle',
  'logs',
  'cli-start',
  'ingress',
  'postgres-ingress',
  'traffic',
  'smuggling',
  'sleep',
  'metrics',
  'density',
  'datastores',
  'backups',
  'postgres',
  'key-value',
  'audit',
  'events',
  'variables',
  'webhooks',
] as const

const wanted = process.argv.slice(2)
for (const name of names) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`\n${name}`)
  const { run } = (await import(`./${name}.ts`)) as { run(): Promise<unknown> }
  await run()
}
process.exit(0)

export {}
