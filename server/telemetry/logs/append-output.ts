import { closeSync, constants, openSync, writeSync } from 'node:fs'

const OUTPUT_FILE_MODE = 0o600

export function appendOutput(path: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
  const descriptor = openSync(path, flags, OUTPUT_FILE_MODE)
  try {
    writeSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
}
