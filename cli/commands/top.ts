import { type Command, Option } from 'commander'
import type { ServiceUsage } from '../../shared/metrics.ts'
import { allPages } from '../api/pages.ts'
import { datastoresOf } from '../finding/owner.ts'
import { showTop } from '../metrics/top-screen.ts'
import { sortUsage, type TopOrder, topOrders, topTable } from '../metrics/top-table.ts'
import { addPlaceFilter, emptyIn, type PlaceOptions, placeFilter } from '../options/place.ts'
import { durationOption } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'

const DEFAULT_EVERY_MS = 3000
const MIN_EVERY_MS = 500

interface TopOptions extends PlaceOptions {
  once?: boolean
  sort: TopOrder
  every?: number
}

export function addTopCommand(program: Command, start: Start): void {
  addPlaceFilter(program.command('top'))
    .description('Show what all services and databases use now, again and again until q is pressed')
    .option('--once', 'Print it once, as is done when the output is no terminal')
    .addOption(new Option('--sort <order>', 'What comes first').choices(topOrders).default('cpu'))
    .option('--every <duration>', 'How often it is asked for (default: 3s)', durationOption)
    .action((options: TopOptions, command: Command) => top(start(command), options))
}

async function top(context: Context, { once, sort, every = DEFAULT_EVERY_MS, ...places }: TopOptions): Promise<void> {
  const { client, io, paint } = context
  const isShown = await filterOf(context, places)
  const ask = async (): Promise<ServiceUsage[]> => (await client.call('listServiceUsage')).filter(isShown)
  const usage = await ask()
  if (context.isJson) return context.printJson(sortUsage(usage, sort))
  if (usage.length === 0) return context.note(emptyIn(places, 'No services yet. Run cpctl deploy in a folder to make one.'))
  if (once || !io.stdout.isTty || !io.terminal.isTyped) {
    return io.stdout.write(topTable(sortUsage(usage, sort), { paint, width: io.stdout.isTty ? io.stdout.columns : undefined }))
  }
  await showTop({ terminal: io.terminal, paint, everyMs: Math.max(MIN_EVERY_MS, every), now: io.now }, async () =>
    sortUsage(await ask(), sort),
  )
}

async function filterOf(context: Context, places: PlaceOptions): Promise<(usage: ServiceUsage) => boolean> {
  const filter = await placeFilter(context, places)
  if (Object.keys(filter).length === 0) return () => true
  const services = await allPages((query) => context.client.call('listServices', { query: { ...query, ...filter } }))
  const ids = new Set([...services.map(({ service }) => service.id), ...(await datastoresOf(context, filter)).map(({ id }) => id)])
  return ({ serviceId }) => ids.has(serviceId)
}
