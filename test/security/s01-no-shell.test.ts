import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { levels } from '../structure/groups.ts'

const root = join(import.meta.dirname, '../..')
const sources = ['server', 'cli', 'shared', '.scripts'].flatMap((folder) =>
  [...new Bun.Glob('**/*.ts').scanSync({ cwd: join(root, folder) })].map((path) => `${folder}/${path}`),
)

/** The sources with comments taken out: those may speak of what the code must not do. */
const codeOf = (path: string): string => readFileSync(join(root, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g, '')

const filesWith = (pattern: RegExp, among = sources): string[] => among.filter((path) => pattern.test(codeOf(path))).sort()
const product = sources.filter((path) => !path.startsWith('.scripts/'))

test('S1: there are sources to look at', () => {
  expect(product.length).toBeGreaterThan(100)
  expect(codeOf('server/platform/process/spawn.ts')).toContain('Bun.spawn')
})

test('S1: processes are started in one file by the server, and by cpctl where a program of the machine takes over or is asked', () => {
  expect(filesWith(/\bBun\s*\.\s*spawn(Sync)?\b/, product)).toEqual([
    'cli/base/browser.ts',
    'cli/commands/postgres-connect.ts',
    'cli/git/program.ts',
    'cli/key-value/client-program.ts',
    'server/platform/process/spawn.ts',
  ])
  expect(filesWith(/\bBun\s*\[|\{[^}]*\bspawn(Sync)?\b[^}]*\}\s*=\s*Bun\b|from 'bun'.*\bspawn|\bspawn\b[^\n]*from 'bun'/, product)).toEqual(
    [],
  )
  expect(filesWith(/child_process|node:cluster/, product)).toEqual([])
  expect(filesWith(/\bexecve\b/, product)).toEqual(['server/platform/process/spawn.ts'])
})

test('S1: nothing takes a command as one string', () => {
  expect(filesWith(/\bBun\s*\.\s*\$|import\s*\{[^}]*\$[^}]*\}\s*from\s*'bun'/)).toEqual([])
  expect(filesWith(/\bexecSync\b|(?<!\.)\bexec\(|\bshell:\s*true|\bnew Function\(|'node:vm'|\beval\(/)).toEqual([])
})

test('S1: of the C library these calls are made and no others', () => {
  const calls = filesWith(/bun:ffi/, product).map((path) => {
    const called = [...codeOf(path).matchAll(/(\w+): \{ args: \['/g)].map(([, name]) => name)
    return { path, called }
  })
  expect(calls).toEqual([
    // Tries what the filter of calls refuses, from inside a sandbox.
    { path: 'server/boot/doctor/red-team/system-calls.ts', called: ['syscall'] },
    // Has the kernel ask whether clients of databases are there, and says how long they have been silent.
    { path: 'server/ingress/sockets/keep-alive.ts', called: ['setsockopt', 'getsockopt'] },
    { path: 'server/ingress/tls/duplicate-descriptor.ts', called: ['fcntl'] },
    {
      path: 'server/platform/connections/own-sockets.ts',
      called: ['getpeername', 'getsockname', 'getsockopt', 'fcntl', 'shutdown', 'getrlimit'],
    },
    { path: 'server/platform/files/growing/release-range.ts', called: ['fallocate'] },
    { path: 'server/platform/process/pipe.ts', called: ['pipe2', 'fcntl'] },
    { path: 'server/platform/process/pty.ts', called: ['tcflow'] },
    // Joins a session keyring of its own.
    { path: 'server/platform/process/secrecy.ts', called: ['syscall'] },
  ])
})

/** Where a shell runs a script of ours, or a service's own command in its sandbox. */
const withShell = [
  'server/apps/git-push/repository/command.ts',
  'server/engines/process/launch.ts',
  'server/engines/process/records/spool.ts',
  'server/engines/process/volumes/mounted-image.ts',
  'server/platform/process/own-user.ts',
]

test('S1: a shell is named only where it runs a constant script, or the own command of a service in its sandbox', () => {
  expect(filesWith(/['"](\/bin\/)?(ba|da|z)?sh['"]|['"]-lc['"]/, product).filter((path) => path !== 'cli/completion/scripts.ts')).toEqual(
    withShell,
  )
})

test('S1: what is started is never put together from text', () => {
  const callers = filesWith(/\bspawnProcess\(/, product)
  expect(callers.length).toBeGreaterThan(0)
  // The argument array is a literal or a value made by a pure function; a template or sum in the call would be neither.
  expect(callers.filter((path) => /spawnProcess\(\s*(`|'|"|[^,)]*\+)/.test(codeOf(path)))).toEqual([])
  expect(codeOf('server/platform/process/spawn.ts')).toMatch(/spawnProcess\(argv: readonly string\[\]/)
})

test('S1: the scripts are constants', () => {
  const scripts = withShell.flatMap((path) =>
    [...codeOf(path).matchAll(/const [A-Z_]+ = (?:String\.raw)?`([^`]*)`/g)].map(([, script = '']) => script),
  )
  expect(scripts.length).toBe(10)
  const inserted = scripts.flatMap((script) => [...script.matchAll(/(?<!\\)\$\{([\w.]+)\}/g)].map(([, name]) => name))
  // They are names of files and folders, and constants themselves.
  expect([...new Set(inserted)].sort()).toEqual(['LEAVE_STEPS', 'MONITOR_FILE', 'SHOWN', 'SHOWN.folder', 'SHOWN.programs', 'SHOWN_AT'])
})

test('S1: lint forbids it as well', () => {
  const config = readFileSync(join(root, '.biome.json'), 'utf8')
  const { overrides } = JSON.parse(config) as { overrides: { includes: string[]; linter?: unknown }[] }
  for (const folder of ['shared/**', 'cli/**', ...levels.flat().map((group) => `server/${group}/**`)]) {
    const rules = overrides.find(({ includes }) => includes[0] === folder)
    expect(JSON.stringify(rules)).toContain('node:child_process')
  }
})
