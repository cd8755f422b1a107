import type { Command } from 'commander'
import type { protectedStatuses } from '../../shared/project.ts'
import { orForce } from '../finding/broken-links.ts'
import { placeName, resolveEnvironment } from '../finding/environments.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

interface SettingOptions {
  project?: string
  force?: boolean
}

interface Setting {
  name: string
  description: string
  body: { protectedStatus: (typeof protectedStatuses)[number] } | { networkIsolationEnabled: boolean }
  said: string
}

const settings: readonly Setting[] = [
  {
    name: 'protect',
    description: 'Let only administrators delete, suspend, roll back or look into what is in an environment',
    body: { protectedStatus: 'protected' },
    said: 'is protected now: what destroys or reveals in it needs environments.manage_protected.',
  },
  {
    name: 'unprotect',
    description: 'Treat an environment as any other again',
    body: { protectedStatus: 'unprotected' },
    said: 'is protected no longer.',
  },
  {
    name: 'isolate',
    description: 'Let private names and addresses of an environment be reached from within it alone; takes effect at once',
    body: { networkIsolationEnabled: true },
    said: 'is isolated now: nothing outside reaches its private names, nor does it reach those outside.',
  },
  {
    name: 'unisolate',
    description: 'Let an environment and the rest of the workspace reach each other by private names again',
    body: { networkIsolationEnabled: false },
    said: 'is isolated no longer.',
  },
]

export function addSettingCommands(of: (name: string, description: string) => Command, start: Start): void {
  for (const setting of settings) {
    const command = of(setting.name, setting.description)
    if ('networkIsolationEnabled' in setting.body) command.option('--force', 'Even where services are parted from what they use by it')
    command.action((name: string, options: SettingOptions, self: Command) => change(start(self), name, { ...options, setting }))
  }
}

async function change(
  context: Context,
  name: string,
  { project, force, setting: { body, said } }: SettingOptions & { setting: Setting },
): Promise<void> {
  const place = await resolveEnvironment(context, name, project)
  const params = { environmentId: place.environment.id }
  const changing = context.client.call('updateEnvironment', { params, query: force ? { force: true } : {}, body })
  const environment = await changing.catch(orForce)
  if (context.isJson) return context.printJson(environment)
  context.print(clean`${placeName(place)} ${said}`)
}
