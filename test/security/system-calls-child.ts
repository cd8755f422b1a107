import { carryOut } from '../../server/boot/doctor/red-team/attempt.ts'
import { systemCallTries } from '../../server/boot/doctor/red-team/system-calls.ts'

/** Runs inside a sandbox, and prints what came of the tries. */
console.log(JSON.stringify(await Promise.all(systemCallTries().map(carryOut))))
process.exit(0)
