import { existsSync } from 'node:fs'
import { replaceFileSync } from '../../platform/files/replace-file.ts'
import { readSecretFile } from '../../platform/files/secret-file.ts'

const PROOF_BYTES = 32

/** Makes the secret once for an installation: an ingress that outlives a control plane goes on showing what its routes say. */
export function ensureIngressProof(path: string): string {
  if (!existsSync(path)) replaceFileSync(path, Buffer.from(crypto.getRandomValues(new Uint8Array(PROOF_BYTES))).toString('base64url'))
  return readSecretFile(path).trim()
}
