import { Command } from 'commander'
import { runExtraction } from '../../platform/archives/child.ts'

export function extractCommand(): Command {
  return new Command('extract')
    .description('Unpack an uploaded archive (run by `cpd serve`)')
    .argument('<task>', 'What to unpack, where to and within which limits, as JSON')
    .action(async (task: string) => await runExtraction(task))
}
