import { Type } from '@sinclair/typebox'
import { AppError } from '../../../../../shared/error.ts'
import type { RepositoryHooks, WantedHook } from '../../port.ts'
import { askHost, type HostRequest } from '../ask.ts'
import type { Reach } from '../reach.ts'
import { pathOf } from '../repository-path.ts'
import { GiteaHook, GiteaHooks } from './shapes.ts'

const events = ['push', 'delete', 'status', 'repository', 'pull_request']

/** Webhooks of single repositories. Ours is known by its URL, so that one whose making was not heard of is found again. */
export function giteaHooks(reach: Reach, as: (request: HostRequest) => HostRequest): RepositoryHooks {
  return {
    async ensure(repository, hook, signal) {
      const path = `${pathOf(repository)}/hooks`
      const present = await askHost(reach, as({ path: `${path}?limit=50` }), GiteaHooks, signal)
      const ours = present.find(({ config }) => config.url === hook.url)
      const asked: HostRequest =
        ours === undefined
          ? { method: 'POST', path, json: { type: 'gitea', ...settingsOf(hook) } }
          : { method: 'PATCH', path: `${path}/${ours.id}`, json: settingsOf(hook) }
      return String((await askHost(reach, as(asked), GiteaHook, signal)).id)
    },
    async remove(repository, hookId, signal) {
      const path = `${pathOf(repository)}/hooks/${encodeURIComponent(hookId)}`
      try {
        await askHost(reach, as({ method: 'DELETE', path }), Type.Unknown(), signal)
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'not_found') throw error
      }
    },
  }
}

const settingsOf = ({ url, secret }: WantedHook) => ({ config: { url, content_type: 'json', secret }, events, active: true })
