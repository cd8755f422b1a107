/**
 * Runs scripts of package.json at once and prints what each has said when it ends, so that their lines do not mix. Ends with 1 where one
 * failed, after all: who mends a complaint of the linter wants to know those of the compiler, too.
 */
const names = process.argv.slice(2)

const codes = await Promise.all(names.map(runScript))
process.exit(codes.every((code) => code === 0) ? 0 : 1)

async function runScript(name: string): Promise<number> {
  const script = Bun.spawn(['npm', 'run', '--silent', name], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([script.stdout.text(), script.stderr.text(), script.exited])
  const said = `${stdout}${stderr}`.trim()
  if (said !== '') console.log(said)
  if (code !== 0) console.log(`${name} failed`)
  return code
}
