import type { Service } from '../../shared/service.ts'
import { CliError } from '../base/error.ts'
import { type Place, placeName, placeNameOf, servicesIn } from '../finding/environments.ts'
import { linkOf, placeOfLink } from '../linking/linked.ts'
import { type PlaceOptions, placeGiven } from '../options/place.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

interface Found {
  service: Service
  options: PlaceOptions & { service?: string }
  folder: string
}

/** Has a deploy go to the environment that was named, or that the folder is linked to. @throws CliError when the service is in another. */
export async function requirePlace(context: Context, { service, options, folder }: Found): Promise<void> {
  const given = await placeGiven(context, options)
  if (given !== undefined) return requireIn(context, service, given)
  const link = await linkOf(context, folder)
  if (link === undefined || link.environmentId === service.environmentId) return
  const linked = await placeOfLink(context, link)
  const place = placeName(linked)
  if (service.environmentId === undefined)
    return context.note(clean`${service.name} is in no environment. To move it: cpctl environments move ${service.name} --to ${place}`)
  const where = await whereIs(context, service)
  if (options.service !== undefined) return context.note(clean`${service.name} is ${where}, though this folder is linked to ${place}.`)
  throw new CliError('conflict', `${service.name} is ${where}, and this folder is linked to ${place}.`, {
    hint: `Name the service that is meant with --service; ${await choiceIn(context, linked)}.`,
  })
}

async function requireIn(context: Context, service: Service, place: Place): Promise<void> {
  if (service.environmentId === place.environment.id) return
  throw new CliError('conflict', `${service.name} is ${await whereIs(context, service)}, not in ${placeName(place)}.`, {
    hint: `Name another with --service, or move it with cpctl environments move ${service.name} --to ${placeName(place)}.`,
  })
}

async function whereIs(context: Context, { environmentId }: Service): Promise<string> {
  return environmentId === undefined ? 'in no environment' : `in ${await placeNameOf(context, environmentId)}`
}

async function choiceIn(context: Context, { environment }: Place): Promise<string> {
  const names = (await servicesIn(context, environment.id)).map(({ name }) => name)
  return names.length === 0 ? 'a new name makes one there' : `there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`
}
