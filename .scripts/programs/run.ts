/** Runs a tool of the build to its end. @throws Error with what it said. */
export function run(argv: readonly string[], options: { cwd?: string } = {}): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...argv], { stdout: 'pipe', stderr: 'pipe', ...options })
  if (exitCode !== 0) throw new Error(`${argv[0]} ${argv[1] ?? ''}: ${`${stderr}${stdout}`.trim().split('\n').at(-1)}`)
  return String(stdout)
}
