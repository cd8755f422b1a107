import { realIo } from './io.ts'
import { run } from './program.ts'

run(process.argv.slice(2), realIo()).then((exitCode) => {
  process.exitCode = exitCode
})
