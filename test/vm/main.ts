/**
 * `npm run test:vm`: the executables of dist/ on a Debian of its own under qemu, with real systemd, control groups v2, user quotas and a
 * reboot. Not a part of `npm test`: where the processor's virtualization cannot be used, it takes some minutes.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { progress } from '../soak/outcome.ts'
import { facts } from './facts.ts'
import { guestOn } from './guest.ts'
import { guestImage } from './image.ts'
import { type Machine, startMachine } from './machine.ts'
import { writePayload } from './payload.ts'

const JOURNAL_TIMEOUT_MS = 60_000

if (import.meta.main) {
  const { values } = parseArgs({ options: { executables: { type: 'string', default: 'dist' }, only: { type: 'string', default: '' } } })
  const image = await guestImage()
  const dir = await mkdtemp(join(tmpdir(), 'cpd-vm-'))
  let machine: Machine | undefined
  let [passed, failed] = [0, 0]
  try {
    const secondDisk = await writePayload(dir, values.executables)
    machine = await startMachine({ image, secondDisk, dir })
    progress('the guest is up')
    const guest = guestOn(machine)
    for (const { title, holds, isNeeded } of facts.filter((fact) => fact.isNeeded || fact.title.includes(values.only))) {
      try {
        await holds(guest)
        passed++
        progress(`ok      ${title}`)
      } catch (error) {
        failed++
        progress(`FAILED  ${title}\n${error instanceof Error ? error.message : error}\n${await journalOf(machine)}`)
        if (isNeeded) break
      }
    }
  } finally {
    await machine?.close()
    await rm(dir, { recursive: true, force: true })
  }
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
}

/** What may explain a failure. */
async function journalOf(machine: Machine): Promise<string> {
  const told = machine.run(
    'journalctl -b -u cpd -o cat --no-pager | tail -n 15; systemctl --failed --no-legend; dmesg | tail -n 3',
    JOURNAL_TIMEOUT_MS,
  )
  return (await told.catch((error: Error) => ({ output: error.message }))).output
}
