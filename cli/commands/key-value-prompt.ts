import type { Command } from 'commander'
import { CliError } from '../base/error.ts'
import { resolveKeyValue } from '../finding/key-value.ts'
import { findClient, runClient } from '../key-value/client-program.ts'
import { prompt } from '../key-value/prompt.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'
import type { OfStore } from './key-value.ts'

interface PromptOptions {
  insecure?: boolean
  builtIn?: boolean
}

export function addKeyValuePromptCommand(of: OfStore, start: Start): void {
  of('cli', 'Type commands to a key-value store, by valkey-cli or redis-cli where the machine has one')
    .argument('[command...]', 'One command to send in place of a prompt')
    .option('--insecure', 'Do not verify the certificate of the server')
    .option('--built-in', 'Use no program of the machine')
    .addHelpText('after', '\nExamples:\n  $ cpctl kv cli cache\n  $ cpctl kv cli cache GET greeting')
    .action((name: string, words: string[], options: PromptOptions, command: Command) => open(start(command), name, { words, ...options }))
}

async function open(context: Context, nameOrId: string, { words, ...options }: PromptOptions & { words: string[] }): Promise<void> {
  const { id, name } = await resolveKeyValue(context, nameOrId)
  const { externalConnectionString: url } = await context.client.call('getKeyValueConnectionInfo', { params: { keyValueId: id } })
  if (url === '')
    throw new CliError('not_configured', clean`${name} cannot be reached from outside.`, {
      hint: 'The operator of the server can open a way in with CP_INGRESS_KEY_VALUE. Services of the same network reach it as they are.',
    })
  const program = options.builtIn === true || context.isJson ? undefined : findClient()
  const isInsecure = options.insecure === true
  if (program === undefined) await prompt(context, { url, words, isInsecure })
  else
    await runClient(program, { url, words, isInsecure }).catch((error) => {
      if (!isInsecure) context.note('Where the certificate is none that this machine trusts, --insecure does not verify it.')
      throw error
    })
}
