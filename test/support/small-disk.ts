import { chmodSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '../../server/platform/process/spawn.ts'

/** A file system of its own, as large as it says. */
export interface SmallDisk {
  dir: string
  close(): Promise<void>
}

async function must(argv: string[], advice: string): Promise<void> {
  const { exitCode, stderr } = await runProcess(argv, { env: { PATH: '/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin' } })
  if (exitCode !== 0) throw new Error(`${argv.join(' ')} failed: ${stderr.trim()}. ${advice}`)
}

/** Makes an ext4 file system in a file and mounts it; only root can. `options` are those of mkfs and of mount. */
export async function makeSmallDisk(sizeBytes: number, options: { mkfs?: string[]; mount?: string } = {}): Promise<SmallDisk> {
  const folder = mkdtempSync(join(tmpdir(), 'cpd-disk-'))
  chmodSync(folder, 0o711)
  const image = join(folder, 'image')
  const dir = join(folder, 'mounted')
  writeFileSync(image, '')
  truncateSync(image, sizeBytes)
  await must(['mkfs.ext4', '-q', ...(options.mkfs ?? []), image], 'Install e2fsprogs.')
  await must(['mkdir', dir], '')
  await must(
    ['mount', '-o', ['loop', ...(options.mount === undefined ? [] : [options.mount])].join(','), image, dir],
    'Run the tests as root.',
  )
  return {
    dir,
    async close() {
      await must(['umount', '--lazy', dir], '')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
