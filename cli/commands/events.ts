import { type Command, Option } from 'commander'
import { type Event, type EventType, eventTypes } from '../../shared/event.ts'
import { isId } from '../../shared/id.ts'
import { present } from '../base/present.ts'
import { type EventFilter, lastEvents, tellEvents } from '../events/follow.ts'
import { formatEvent } from '../events/line.ts'
import { resolveOwner } from '../finding/owner.ts'
import { addPlaceFilter, type PlaceOptions, placeFilter } from '../options/place.ts'
import { gather, gatherOf, timeBefore, wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { cleanJsonLine } from '../terminal/text.ts'

const DEFAULT_EVENTS = 50
const MAX_EVENTS = 100_000

interface EventsOptions extends PlaceOptions {
  follow?: boolean
  service?: string[]
  type?: EventType[]
  since?: string
  until?: string
  lines?: number
}

export function addEventsCommand(program: Command, start: Start): void {
  const time = timeBefore(Date.now)
  addPlaceFilter(program.command('events'))
    .description('Show what happened to the services and databases of a workspace, and follow it')
    .option('-f, --follow', 'Go on with new events as they happen')
    .option(
      '-s, --service <services>',
      'Only what happened to these services or databases, by name, or by id where one was deleted',
      gather,
    )
    .option('--type <types>', 'Only events of these types, such as deploy_ended,server_failed', gatherOf(eventTypes))
    .option('--since <time>', 'From then on: 5m, 2h, 1d or a time', time)
    .addOption(new Option('--until <time>', 'Up to then').argParser(time).conflicts('follow'))
    .option(
      '-n, --lines <count>',
      `How many of the newest events (default: ${DEFAULT_EVENTS}, or all with --since)`,
      wholeNumber(0, MAX_EVENTS),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  cpctl events -f --project shop\n  cpctl events --type deploy_ended,server_failed --since 1d --json',
    )
    .action((options: EventsOptions, command: Command) => events(start(command), options))
}

async function events(context: Context, options: EventsOptions): Promise<void> {
  const { client, io } = context
  const filter = await filterOf(context, options)
  const onEvent = (event: Event) => context.print(context.isJson ? cleanJsonLine(event) : formatEvent(event, context.paint))
  const telling = {
    ...{ client, filter, onEvent, signal: io.interrupted, isEndless: options.follow === true },
    onLost: () => context.note('The connection was lost; asking again …'),
  }
  const isWhole = options.since !== undefined && options.lines === undefined
  if (isWhole) await tellEvents({ ...telling, cursor: undefined })
  else {
    const count = options.lines ?? DEFAULT_EVENTS
    // One is read at least, to know where following begins.
    const newest = await lastEvents(client, filter, Math.max(1, count))
    for (const { event } of count === 0 ? [] : newest) onEvent(event)
    if (options.follow) await tellEvents({ ...telling, cursor: newest.at(-1)?.cursor })
  }
  io.interrupted.throwIfAborted()
}

async function filterOf(context: Context, options: EventsOptions): Promise<EventFilter> {
  const { service: named, type, since: startTime, until: endTime } = options
  const serviceId = named && (await Promise.all(named.map((one) => serviceIdOf(context, one))))
  return { ...present({ serviceId, type, startTime, endTime }), ...(await placeFilter(context, options)) }
}

/** What was deleted is not found any more, and has its events still. */
const serviceIdOf = async (context: Context, nameOrId: string): Promise<string> =>
  isId('service', nameOrId) ? nameOrId : (await resolveOwner(context, nameOrId)).id
