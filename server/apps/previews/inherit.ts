import { noPreviews } from '../../../shared/preview.ts'
import type { AppContext } from '../context.ts'
import { addLink, groupsOfService, removeLink } from '../env-groups/store/link-store.ts'
import { type EnvEntry, listEnv, listSecretFiles, replaceEnv, replaceSecretFiles } from '../services/env-store.ts'
import { defaultSettings } from '../services/settings.ts'
import type { StoredService } from '../services/store.ts'
import type { StoredPreview } from './store.ts'
import { listPreviewValues } from './value-store.ts'

type Inherited = Pick<StoredService, 'environmentId' | 'numInstances' | 'settings' | 'controls' | 'labels' | 'foreignCommit'>

/** What a preview is by the settings that its parent has now. Of a fork, it is in no environment: that would lead to what is there. */
export function inheritedBy(parent: StoredService, { isFork, headBranch }: StoredPreview, commit: string): Inherited {
  const { allowUserNamespaces: _, ...settings } = parent.settings
  return {
    environmentId: isFork ? null : parent.environmentId,
    numInstances: 1,
    settings: { ...(isFork ? { ...settings, buildPlan: defaultSettings.buildPlan } : parent.settings), plan: 'free' },
    controls: parent.controls,
    labels: {
      ...{ ...parent.labels, branch: headBranch, autoDeployTrigger: 'off', previews: noPreviews },
      // What lets the workspace in at other repositories of its own is for nobody else.
      submodules: parent.labels.submodules && !isFork,
    },
    foreignCommit: isFork ? commit : null,
  }
}

/** The variables of a preview: what its parent's are in previews, and else what they are; of a fork, no others than the former. */
export function variablesOf(parents: readonly EnvEntry[], values: readonly EnvEntry[], isFork: boolean): EnvEntry[] {
  const replaced = new Set(values.map(({ key }) => key))
  return [...(isFork ? [] : parents.filter(({ key }) => !replaced.has(key))), ...values]
}

/** Gives a preview the variables, secret files and groups that its parent has now. Belongs in a transaction. */
export function inheritSecrets(context: AppContext, { parent, id, isFork }: { parent: StoredService; id: string; isFork: boolean }): void {
  const { db } = context
  replaceEnv(context, id, variablesOf(listEnv(context, parent.id), listPreviewValues(context, parent.id), isFork))
  replaceSecretFiles(context, id, isFork ? [] : listSecretFiles(context, parent.id))
  for (const { id: groupId } of groupsOfService(db, id)) removeLink(db, { serviceId: id, groupId })
  if (!isFork) for (const { id: groupId } of groupsOfService(db, parent.id).reverse()) addLink(db, { serviceId: id, groupId })
}
