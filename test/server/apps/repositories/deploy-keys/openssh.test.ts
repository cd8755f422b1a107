import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fingerprintOf, newKeyPair } from '../../../../../server/apps/repositories/deploy-keys/openssh.ts'

function keygen(args: readonly string[], file: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['ssh-keygen', ...args, '-f', file])
  if (exitCode !== 0) throw new Error(String(stderr))
  return stdout.toString().trim()
}

test('ssh-keygen reads a new private key, and finds the public one in it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cpd-test-key-'))
  try {
    // The padding differs by the length of the comment.
    for (let length = 1; length <= 9; length += 1) {
      const comment = 'c'.repeat(length)
      const { publicKey, privateKey } = newKeyPair(comment)
      const file = join(folder, comment)
      writeFileSync(file, privateKey, { mode: 0o600 })
      expect(keygen(['-y'], file)).toBe(publicKey)
      expect(keygen(['-l'], file)).toBe(`256 ${fingerprintOf(publicKey)} ${comment} (ED25519)`)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('no two pairs are the same', () => {
  const keys = Array.from({ length: 20 }, () => newKeyPair('one').publicKey)
  expect(new Set(keys).size).toBe(20)
})
