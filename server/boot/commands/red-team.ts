import { Command } from 'commander'
import type { Targets } from '../doctor/red-team/targets.ts'
import { tryEverything } from '../doctor/red-team/try-everything.ts'
import { ownEnvironment } from '../settings/environment.ts'

/** The hostile app of the doctor, to be started inside a sandbox. It prints what came of its tries as one line of JSON. */
export function redTeamCommand(): Command {
  return new Command('red-team').action(async () => {
    const targets = JSON.parse(ownEnvironment().RED_TEAM_TARGETS ?? '{}') as Targets
    process.stdout.write(`\n${JSON.stringify(await tryEverything(targets))}\n`)
    process.exit(0)
  })
}
