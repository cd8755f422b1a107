import { type Static, Type } from '@sinclair/typebox'
import { noPreviews, PreviewRule } from './preview.ts'
import { OneOf, StrictObject, visibleChar } from './schema.ts'

/** Where a service's source comes from and when it is deployed, and a region, which nothing goes by: a VM is one place. */

export const regions = ['oregon', 'frankfurt', 'singapore', 'ohio', 'virginia'] as const

const autoDeployTriggers = ['commit', 'off', 'checksPass'] as const

const maxFilterPaths = 100
const FilterPath = Type.String({ maxLength: 512, pattern: `^${visibleChar}*$`, examples: ['apps/web/**'] })

export const BuildFilter = Type.Object({ paths: Type.Array(FilterPath), ignoredPaths: Type.Array(FilterPath) })

const paths = Type.Optional(Type.Array(FilterPath, { maxItems: maxFilterPaths }))

export const RegionInput = OneOf(regions, 'A label: a VM is one place')

export const labelInputs = {
  // A name or password in it would be shown to everybody who may see the service.
  repo: Type.Optional(
    Type.String({
      maxLength: 1024,
      pattern: '^(?:https?://[A-Za-z0-9._:-]+(?:/[!-~]*)?|ssh://[!-~]+|[A-Za-z0-9._]+@[!-~]+)?$',
      description: 'URL of the repository that it is deployed from, by https or ssh, without a password in it',
      examples: ['https://github.com/acme/shop'],
    }),
  ),
  branch: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: `^(?!-)(?:(?! )${visibleChar})*$`,
      description: 'Absent or empty: the default branch of the repository',
      examples: ['main'],
    }),
  ),
  autoDeploy: Type.Optional(OneOf(['yes', 'no'], 'Whether what is pushed is deployed; with a repository it is, unless said otherwise')),
  autoDeployTrigger: Type.Optional(OneOf(autoDeployTriggers, 'Decides over autoDeploy where both are given')),
  buildFilter: Type.Optional(
    StrictObject(
      { paths, ignoredPaths: paths },
      { description: 'Which changed paths have a push deployed, as globs from the root of the repository; default: all in rootDir' },
    ),
  ),
  submodules: Type.Optional(
    Type.Boolean({ description: 'Whether a commit is deployed with the submodules that it names; default: false' }),
  ),
}

export const AutoDeployTrigger = OneOf(autoDeployTriggers)

export const ServiceLabels = Type.Object({
  region: RegionInput,
  repo: Type.String(),
  branch: Type.String(),
  autoDeployTrigger: AutoDeployTrigger,
  buildFilter: BuildFilter,
  submodules: Type.Boolean(),
  previews: PreviewRule,
})
export type ServiceLabels = Static<typeof ServiceLabels>

export const defaultLabels: ServiceLabels = {
  region: 'oregon',
  repo: '',
  branch: '',
  autoDeployTrigger: 'off',
  buildFilter: { paths: [], ignoredPaths: [] },
  submodules: false,
  previews: noPreviews,
}
