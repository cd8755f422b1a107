import { RedisClient } from 'bun'
import { messageOf } from '../../shared/error.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { cleanLines } from '../terminal/text.ts'
import { formatAnswer } from './answer.ts'
import type { Destination } from './client-program.ts'
import { wordsIn } from './words.ts'

const CONNECT_MS = 10_000
/** They turn the connection into something that answers without being asked. */
const streaming = new Set(['subscribe', 'psubscribe', 'ssubscribe', 'monitor', 'hello', 'reset'])
const leaving = new Set(['quit', 'exit'])

/** Sends one command, each line that is piped in, or what is typed until `quit`. @throws CliError where nobody answers or a command fails. */
export async function prompt(context: Context, { url, words, isInsecure }: Destination): Promise<void> {
  const tls = url.startsWith('rediss:') ? { tls: { rejectUnauthorized: !isInsecure } } : {}
  const client = new RedisClient(url, { connectionTimeout: CONNECT_MS, autoReconnect: false, ...tls })
  try {
    await client.connect().catch((error) => {
      throw new CliError('unavailable', `The key-value store cannot be reached: ${messageOf(error)}`, {
        hint: 'Its allow list may not have your address; or its certificate is none that this machine trusts, which --insecure does not verify.',
      })
    })
    const send = (given: readonly string[]) => sendWords(client, given)
    if (words.length > 0) show(context, await send(words))
    else if (context.io.stdin.isTty) await converse(context, send)
    else for (const line of (await context.io.stdin.text()).split('\n')) if (line.trim() !== '') show(context, await send(wordsIn(line)))
  } finally {
    client.close()
  }
}

type Send = (words: readonly string[]) => Promise<unknown>

async function sendWords(client: RedisClient, [name = '', ...given]: readonly string[]): Promise<unknown> {
  if (streaming.has(name.toLowerCase()))
    throw new CliError('bad_request', `${name} is not for this prompt. Install valkey-cli or redis-cli, which cpctl kv cli then uses.`)
  return await client.send(name, given).catch((error) => {
    throw new CliError('bad_request', messageOf(error))
  })
}

function show(context: Context, answer: unknown): void {
  if (context.isJson) context.printJson(answer ?? null)
  else context.print(cleanLines(formatAnswer(answer)))
}

async function converse(context: Context, send: Send): Promise<void> {
  for (;;) {
    const line = await context.io.stdin.line({ text: '>', isHidden: false })
    if (leaving.has(line.trim().toLowerCase())) return
    if (line.trim() === '') continue
    try {
      show(context, await send(wordsIn(line)))
    } catch (error) {
      context.note(`(error) ${cleanLines(messageOf(error))}`)
    }
  }
}
