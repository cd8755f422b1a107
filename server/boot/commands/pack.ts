import { Command } from 'commander'
import { runPacking } from '../../apps/backups/repository/pack-child.ts'

export function packCommand(): Command {
  return new Command('pack').description('Pack or open a file of a backup (run by `cpd serve`)').action(async () => await runPacking())
}
