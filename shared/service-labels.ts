import { type Static, Type } from '@sinclair/typebox'
import { OneOf, StrictObject, visibleChar } from './schema.ts'

/** Clients of Render's API expect to read these again. Nothing goes by them: a VM is one region, and source is uploaded. */

export const regions = ['oregon', 'frankfurt', 'singapore', 'ohio', 'virginia'] as const

const autoDeployTriggers = ['commit', 'off', 'checksPass'] as const

const maxFilterPaths = 100
const FilterPath = Type.String({ maxLength: 512, pattern: `^${visibleChar}*$`, examples: ['apps/web/**'] })

export const BuildFilter = Type.Object({ paths: Type.Array(FilterPath), ignoredPaths: Type.Array(FilterPath) })

const label = 'Kept and told again; nothing goes by it yet'
const paths = Type.Optional(Type.Array(FilterPath, { maxItems: maxFilterPaths }))

export const RegionInput = OneOf(regions, 'A label: a VM is one place')

export const labelInputs = {
  // A name or password in it would be shown to everybody who may see the service.
  repo: Type.Optional(
    Type.String({
      maxLength: 1024,
      pattern: '^(?:https?://[A-Za-z0-9._:-]+(?:/[!-~]*)?|ssh://[!-~]+|[A-Za-z0-9._]+@[!-~]+)?$',
      description: `URL of a repository, without a name or password in it. ${label}`,
      examples: ['https://github.com/acme/shop'],
    }),
  ),
  branch: Type.Optional(
    Type.String({ maxLength: 255, pattern: `^(?!-)(?:(?! )${visibleChar})*$`, description: label, examples: ['main'] }),
  ),
  autoDeploy: Type.Optional(OneOf(['yes', 'no'], label)),
  autoDeployTrigger: Type.Optional(OneOf(autoDeployTriggers, `Decides over autoDeploy where both are given. ${label}`)),
  buildFilter: Type.Optional(StrictObject({ paths, ignoredPaths: paths }, { description: label })),
}

export const AutoDeployTrigger = OneOf(autoDeployTriggers)

export const ServiceLabels = Type.Object({
  region: RegionInput,
  repo: Type.String(),
  branch: Type.String(),
  autoDeployTrigger: AutoDeployTrigger,
  buildFilter: BuildFilter,
})
export type ServiceLabels = Static<typeof ServiceLabels>

export const defaultLabels: ServiceLabels = {
  region: 'oregon',
  repo: '',
  branch: '',
  autoDeployTrigger: 'off',
  buildFilter: { paths: [], ignoredPaths: [] },
}
