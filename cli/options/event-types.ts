import { InvalidArgumentError } from 'commander'
import { type EventType, eventTypes } from '../../shared/event.ts'
import { nearest } from '../../shared/nearest.ts'
import { gather } from './values.ts'

export const gatherEventTypes = (text: string, before: EventType[] = []): EventType[] => [...before, ...gather(text).map(eventTypeOf)]

function eventTypeOf(text: string): EventType {
  const type = eventTypes.find((one) => one === text)
  if (type !== undefined) return type
  const meant = nearest(text, eventTypes)
  throw new InvalidArgumentError(
    `There are no events of type ${text}. ${meant === undefined ? `There are ${eventTypes.join(', ')}.` : `Did you mean ${meant}?`}`,
  )
}
