import { expect, test } from 'vitest'
import { toOpenApiSchema } from '../../server/api/docs/schema.ts'
import { optionsOf } from '../../shared/cli-option.ts'
import { acceptingNulls } from '../../shared/null-fields.ts'
import { ServicePatch } from '../../shared/service.ts'
import { hasDetail, isDetail, ServiceDetailsInput } from '../../shared/service-details.ts'
import { serviceTypes } from '../../shared/service-type.ts'

test('every field that is an option of cpctl is one that some type of service has', () => {
  const fields = optionsOf(ServicePatch).flatMap(({ path: [first, field = ''] }) => (first === 'serviceDetails' ? [field] : []))
  expect(fields.length).toBeGreaterThan(15)
  expect(fields.filter((field) => !serviceTypes.some((type) => hasDetail(type, field)))).toEqual([])
})

test('an option stands for several fields only where no type of service has two of them', () => {
  const shared = [...Map.groupBy(optionsOf(ServicePatch), ({ name }) => name).values()].filter((rows) => rows.length > 1)
  expect(shared.map(([row]) => row?.name)).toEqual(['build-command'])
  const fields = shared.flat().map(({ path }) => path[1] ?? '')
  expect(serviceTypes.filter((type) => fields.filter((field) => hasDetail(type, field)).length > 1)).toEqual([])
})

test('the document shows each type of service with the fields it has', () => {
  const components: Record<string, { properties?: object }> = {}
  const { anyOf } = toOpenApiSchema(acceptingNulls(ServiceDetailsInput), components)
  expect(anyOf).toEqual(Object.keys(components).map((name) => ({ $ref: `#/components/schemas/${name}` })))
  const named = ['WebService', 'PrivateService', 'BackgroundWorker', 'CronJob', 'StaticSite'].map((name) => `${name}DetailsInput`)
  expect(Object.keys(components)).toEqual(expect.arrayContaining(named))
  expect(anyOf).toHaveLength(serviceTypes.length)
  const fieldsOf = (name: string) => Object.keys(components[name]?.properties ?? {})
  expect(fieldsOf('CronJobDetailsInput')).toContain('schedule')
  expect(fieldsOf('CronJobDetailsInput')).not.toContain('numInstances')
  expect(fieldsOf('StaticSiteDetailsInput').filter((field) => !hasDetail('static_site', field) || !isDetail(field))).toEqual([])
})
