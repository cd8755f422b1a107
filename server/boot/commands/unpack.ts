import { Command } from 'commander'
import { unpackPrograms } from '../../runtime/programs/unpack.ts'

export function unpackCommand(): Command {
  return new Command('unpack')
    .description('Unpack programs of this executable (run by `cpd serve`)')
    .argument('<archive>')
    .argument('<folder>')
    .action(async (archive: string, folder: string) => await unpackPrograms(archive, folder))
}
