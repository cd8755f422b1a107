import { spawnProcess } from '../../../../../server/platform/process/spawn.ts'

/** Has another process exchange a folder for a link to `target` and back, as fast as it can. Call the result to end it. */
export async function exchanging(folder: string, target: string): Promise<() => Promise<void>> {
  const script = `
    import { renameSync, symlinkSync } from 'node:fs'
    const [folder, target] = process.argv.slice(-2)
    symlinkSync(target, folder + '.link')
    process.stdout.write('begun')
    for (;;) {
      try {
        renameSync(folder, folder + '.real')
        renameSync(folder + '.link', folder)
        renameSync(folder, folder + '.link')
        renameSync(folder + '.real', folder)
      } catch {
        process.exit(0)
      }
    }`
  const child = spawnProcess([process.execPath, '-e', script, '--', folder, target], { env: { BUN_BE_BUN: '1' }, stdout: 'pipe' })
  await child.stdout?.getReader().read()
  return async () => {
    child.kill('SIGKILL')
    await child.exited
  }
}
