import { readdirSync, readFileSync } from 'node:fs'

const BLOCK_DEVICES = '/sys/block'

export function loopDeviceOf(image: string): string | undefined {
  const name = readdirSync(BLOCK_DEVICES).find((device) => device.startsWith('loop') && backingFileOf(device) === image)
  return name === undefined ? undefined : `/dev/${name}`
}

function backingFileOf(device: string): string | undefined {
  try {
    return readFileSync(`${BLOCK_DEVICES}/${device}/loop/backing_file`, 'utf8').trimEnd()
  } catch {
    return undefined
  }
}
