import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runProcess } from '../../../../server/platform/process/spawn.ts'

test('a process that holds keys dumps no memory, and neither do those that it starts', async () => {
  const program = [
    `import { keepSecretsInside } from ${JSON.stringify(resolve('server/platform/process/secrecy.ts'))}`,
    'keepSecretsInside()',
    "const child = Bun.spawnSync(['cat', '/proc/self/coredump_filter'])",
    "console.log((await Bun.file('/proc/self/coredump_filter').text()).trim(), child.stdout.toString().trim())",
  ].join('\n')
  const { stdout, stderr } = await runProcess([process.execPath, '-e', program], { env: { PATH: '/usr/bin:/bin', BUN_BE_BUN: '1' } })
  expect({ stdout, stderr }).toEqual({ stdout: '00000000 00000000\n', stderr: '' })
})
