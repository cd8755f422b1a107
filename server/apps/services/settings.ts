import { type Static, Type } from '@sinclair/typebox'
import { HeaderRule, maxPatternChars, PathRule, type PathRuleInput } from '../../../shared/edge-rule.ts'
import { AppError, type ErrorDetail } from '../../../shared/error.ts'
import { isReservedHeader } from '../../../shared/header-rule.ts'
import { buildPlanNames, defaultBuildPlan, defaultPlan, planNames } from '../../../shared/plan.ts'
import { OneOf } from '../../../shared/schema.ts'
import { type AnyDetailsInput, defaultShutdownDelaySeconds, hasDetail, isDetail, runtimes } from '../../../shared/service-details.ts'
import { type ServiceType, traitsOf } from '../../../shared/service-type.ts'
import { unlimited } from '../../platform/db/json-column.ts'
import { isNeutralControl } from './controls.ts'

/** The schema is of what is kept; what clients may send is checked elsewhere, and more strictly. */
export const ServiceSettings = Type.Object({
  runtime: Type.Union([OneOf(runtimes), Type.Null()]),
  rootDir: Type.String(),
  buildCommand: Type.String(),
  startCommand: Type.String(),
  preDeployCommand: Type.String(),
  plan: OneOf(planNames),
  buildPlan: OneOf(buildPlanNames),
  healthCheckPath: Type.String(),
  maxShutdownDelaySeconds: Type.Number(),
  allowUserNamespaces: Type.Optional(Type.Boolean()),
  publishPath: Type.String(),
  headers: Type.Array(unlimited(HeaderRule)),
  routes: Type.Array(unlimited(PathRule)),
})
export type ServiceSettings = Static<typeof ServiceSettings>

export const defaultSettings: ServiceSettings = {
  runtime: null,
  rootDir: '',
  buildCommand: '',
  startCommand: '',
  preDeployCommand: '',
  plan: defaultPlan,
  buildPlan: defaultBuildPlan,
  healthCheckPath: '',
  maxShutdownDelaySeconds: defaultShutdownDelaySeconds,
  publishPath: '',
  headers: [],
  routes: [],
}

/** The settings with what `input` names. @throws AppError validation_failed naming fields that do not fit the type or each other. */
export function applyDetails(type: ServiceType, settings: ServiceSettings, input: AnyDetailsInput): ServiceSettings {
  refuse([...strangers(type, input), ...contradictions(type, input)])
  const native = input.envSpecificDetails
  return {
    ...settings,
    runtime: input.runtime ?? input.env ?? settings.runtime,
    buildCommand: input.buildCommand ?? native?.buildCommand ?? settings.buildCommand,
    startCommand: native?.startCommand ?? settings.startCommand,
    preDeployCommand: input.preDeployCommand ?? native?.preDeployCommand ?? settings.preDeployCommand,
    plan: input.plan ?? settings.plan,
    buildPlan: input.buildPlan ?? settings.buildPlan,
    healthCheckPath: input.healthCheckPath ?? settings.healthCheckPath,
    maxShutdownDelaySeconds: input.maxShutdownDelaySeconds ?? settings.maxShutdownDelaySeconds,
    ...(input.allowUserNamespaces !== undefined && { allowUserNamespaces: input.allowUserNamespaces }),
    publishPath: input.publishPath ?? settings.publishPath,
    headers: input.headers ?? settings.headers,
    routes: input.routes === undefined ? settings.routes : inOrder(input.routes),
  }
}

function inOrder(rules: readonly PathRuleInput[]): PathRule[] {
  const placed = rules.map(({ priority, ...rule }, place) => ({ rule, priority: priority ?? place }))
  return placed.toSorted((one, other) => one.priority - other.priority).map(({ rule }) => rule)
}

/** A value that changes nothing is let pass, as clients of Render's API send it of all types. */
function strangers(type: ServiceType, input: AnyDetailsInput): ErrorDetail[] {
  return Object.keys(input)
    .filter((key) => isDetail(key) && !hasDetail(type, key) && !isNeutralControl(key, input))
    .map((key) => ({ path: `/serviceDetails/${key}`, message: `A ${type} has no ${key}.` }))
}

function contradictions(type: ServiceType, input: AnyDetailsInput): ErrorDetail[] {
  return [...twoRuntimes(input), ...badRewrites(type, input), ...reservedHeaders(input), ...longPatterns(input)]
}

/** A rewrite answers with another file of the site; going to another site is a redirect. An app has no files to rewrite to. */
function badRewrites(type: ServiceType, { routes = [] }: AnyDetailsInput): ErrorDetail[] {
  const isApp = traitsOf(type).runsProgram
  const message = isApp
    ? 'Only a static site has rewrites: an app routes its own paths. Use a redirect, or do it in the app.'
    : 'A rewrite leads to a path of this site. Use a redirect to lead elsewhere.'
  return routes.flatMap((rule, index) =>
    rule.type === 'rewrite' && (isApp || !rule.destination.startsWith('/'))
      ? [{ path: `/serviceDetails/routes/${index}/${isApp ? 'type' : 'destination'}`, message }]
      : [],
  )
}

function reservedHeaders({ headers = [] }: AnyDetailsInput): ErrorDetail[] {
  return headers.flatMap(({ name }, index) =>
    isReservedHeader(name)
      ? [{ path: `/serviceDetails/headers/${index}/name`, message: `${name} frames the message: no rule can set it.` }]
      : [],
  )
}

/** Each list may be sent without the other, so each has half. */
function longPatterns({ headers = [], routes = [] }: AnyDetailsInput): ErrorDetail[] {
  const lists = { headers: headers.map(({ path }) => path), routes: routes.map(({ source }) => source) }
  const most = maxPatternChars / 2
  return Object.entries(lists).flatMap(([key, patterns]) => {
    const chars = patterns.reduce((sum, pattern) => sum + pattern.length, 0)
    const message = `The paths of these rules have ${chars} characters together, of ${most} that are possible. Shorten them, or use fewer.`
    return chars > most ? [{ path: `/serviceDetails/${key}`, message }] : []
  })
}

function twoRuntimes(input: AnyDetailsInput): ErrorDetail[] {
  if (input.env === undefined || input.runtime === undefined || input.env === input.runtime) return []
  return [{ path: '/serviceDetails/env', message: 'env is the old name of runtime: give one of them, or both with the same value.' }]
}

function refuse(details: ErrorDetail[]): void {
  const first = details[0]
  if (first !== undefined) throw new AppError('validation_failed', first.message, { details })
}
