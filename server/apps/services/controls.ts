import { AppError, type ErrorDetail, invalidValue } from '../../../shared/error.ts'
import { parseIpRange } from '../../../shared/ip-address.ts'
import type { ServiceControls } from '../../../shared/service-controls.ts'
import type { AnyDetailsInput } from '../../../shared/service-details.ts'
import type { Capabilities } from '../../engines/port/port.ts'
import { problemOfSchedule, problemOfTimezone } from '../cron-jobs/schedule.ts'

type AllowList = NonNullable<AnyDetailsInput['ipAllowList']>

/** The controls with what `input` names. @throws AppError validation_failed naming every bad block, page, schedule and time zone. */
export function applyControls(controls: ServiceControls, input: AnyDetailsInput): ServiceControls {
  const problems = [...badBlocks(input.ipAllowList ?? []), ...badPage(input.maintenanceMode?.uri ?? ''), ...badRhythm(input)]
  const [first] = problems
  if (first !== undefined) throw new AppError('validation_failed', first.message, { details: problems })
  return {
    maintenanceMode: { ...controls.maintenanceMode, ...input.maintenanceMode },
    ipAllowList: input.ipAllowList === undefined ? controls.ipAllowList : asKept(input.ipAllowList),
    cutoverGuard: { ...controls.cutoverGuard, ...input.cutoverGuard },
    sleep: { ...controls.sleep, ...input.sleep },
    cron: {
      schedule: input.schedule?.trim() ?? controls.cron.schedule,
      timezone: input.timezone ?? controls.cron.timezone,
      overlapPolicy: input.overlapPolicy ?? controls.cron.overlapPolicy,
    },
  }
}

export const asKept = (list: AllowList): ServiceControls['ipAllowList'] =>
  list.map(({ cidrBlock, description = '' }) => ({ cidrBlock, description }))

/** @throws AppError validation_failed where a service is to be frozen while it sleeps, was not before, and the engine cannot do that. */
export function refuseFreezing({ freeze }: Pick<Capabilities, 'freeze'>, before: ServiceControls, after: ServiceControls): void {
  if (freeze || after.sleep.mode !== 'freeze' || before.sleep.mode === 'freeze') return
  throw invalidValue(
    '/serviceDetails/sleep/mode',
    'Instances cannot be frozen where this server runs them. Let the service sleep with stop.',
  )
}

export const isEverywhere = (list: AllowList): boolean => list.some(({ cidrBlock }) => /\/0+$/.test(cidrBlock))

/** Whether a control is given in a way that also says nothing of a service that cannot have it. */
export function isNeutralControl(
  key: string,
  { ipAllowList = [], maintenanceMode, cutoverGuard, sleep, disk, headers, routes, previews }: AnyDetailsInput,
): boolean {
  if (key === 'headers') return headers?.length === 0
  if (key === 'routes') return routes?.length === 0
  if (key === 'ipAllowList') return ipAllowList.length === 0 || isEverywhere(ipAllowList)
  if (key === 'cutoverGuard') return cutoverGuard?.enabled === false
  if (key === 'disk') return disk === null
  if (key === 'previews') return (previews?.generation ?? 'off') === 'off'
  if (key === 'sleep') return sleep?.mode === 'off'
  return key === 'maintenanceMode' && maintenanceMode?.enabled === false
}

/** What is wrong with a list, each entry named by its pointer in the body. */
export function badBlocks(list: AllowList, at = '/serviceDetails/ipAllowList'): ErrorDetail[] {
  return list.flatMap(({ cidrBlock }, index) => {
    if (parseIpRange(cidrBlock) !== undefined) return []
    const message = `"${cidrBlock}" is no range of addresses. Write it as 203.0.113.0/24, 203.0.113.7 or 2001:db8::/32.`
    return [{ path: `${at}/${index}/cidrBlock`, message }]
  })
}

function badRhythm({ schedule, timezone }: AnyDetailsInput): ErrorDetail[] {
  const problems = [
    { field: 'schedule', message: schedule === undefined ? undefined : problemOfSchedule(schedule.trim()) },
    { field: 'timezone', message: timezone === undefined ? undefined : problemOfTimezone(timezone) },
  ]
  return problems.flatMap(({ field, message }) => (message === undefined ? [] : [{ path: `/serviceDetails/${field}`, message }]))
}

function badPage(uri: string): ErrorDetail[] {
  if (uri === '' || URL.canParse(uri)) return []
  return [{ path: '/serviceDetails/maintenanceMode/uri', message: 'The page of the maintenance mode is no absolute http or https URL.' }]
}
