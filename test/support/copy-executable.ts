import { runProcess } from '../../server/platform/process/spawn.ts'

/**
 * Copies an executable by a process of its own. Another test of this process may fork while a file is written: until that child begins its
 * program it holds the file open, and nobody can run it (ETXTBSY).
 */
export async function copyExecutable(from: string, to: string): Promise<void> {
  const { exitCode, stderr } = await runProcess(['/bin/cp', '-p', from, to])
  if (exitCode !== 0) throw new Error(`${from} was not copied: ${stderr}`)
}
