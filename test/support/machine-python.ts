import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lineOf } from '../../server/builders/toolchains/python-specifiers.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'

export interface MachinePython {
  version: string
  /** Its files, laid out as uv expects those that it fetches. */
  archive: Uint8Array<ArrayBuffer>
}

const LEFT_OUT = [
  'site-packages',
  'dist-packages',
  'test',
  '__pycache__',
  'config-*',
  'idlelib',
  'tkinter',
  'turtledemo',
  'lib2to3',
  'sitecustomize.py',
]

/** The Python of the system, whose program holds its own library, so that it runs wherever it is unpacked. */
export async function packMachinePython(): Promise<MachinePython> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-python-'))
  try {
    const version = (await succeed(['/usr/bin/python3', '-I', '-c', 'import platform; print(platform.python_version())'])).trim()
    const file = join(dir, 'python.tar.gz')
    const excluded = LEFT_OUT.map((name) => `--exclude=${name}`)
    const [python, library] = [`bin/python${lineOf(version)}`, `lib/python${lineOf(version)}`]
    await succeed(['tar', '-czf', file, ...excluded, '--transform=flags=r;s,^,python/,', '-C', '/usr', python, 'bin/python3', library])
    return { version, archive: new Uint8Array(readFileSync(file)) }
  } finally {
    rmSync(dir, { recursive: true })
  }
}

async function succeed(argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runProcess(argv)
  if (exitCode !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`)
  return stdout
}
