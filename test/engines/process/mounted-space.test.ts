import { expect, test } from 'vitest'
import { imageMountIn } from '../../../server/engines/process/mounted-space.ts'

const MACHINE = `21 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda rw
22 21 7:3 / /snap/core ro,nodev - squashfs /dev/loop3 ro
23 21 7:4 / /mnt/other rw - ext4 /dev/loop4 rw
`

test('an image is found by what of it is seen, among the mounts of the machine', () => {
  expect(imageMountIn(MACHINE)).toBeUndefined()
  const own = '90 21 7:5 /data /var/lib/datastore rw,nosuid,nodev,relatime - ext4 /dev/loop5 rw,errors=remount-ro\n'
  expect(imageMountIn(MACHINE + own)).toBe('/var/lib/datastore')
})
