import type { Client } from 'acme-client'
import { unlessAborted } from '../../../platform/work/unless-aborted.ts'
import type { EdgeContext } from '../../context.ts'
import { type Account, accountAt, keepAccountUrl } from './account.ts'
import { AcmeProblem } from './problem.ts'
import type { AcmeSettings } from './settings.ts'
import { converse, fetchAdapter } from './transport.ts'

export interface Authority {
  readonly settings: AcmeSettings
  /** Runs `work` with our account, which is opened first, and once more where the authority has forgotten it. @throws AcmeProblem; the signal's reason. */
  talk<T>(signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T>
}

type AuthorityContext = Pick<EdgeContext, 'db' | 'sealer' | 'now' | 'stopping'>

export function createAuthority(context: AuthorityContext, settings: AcmeSettings): Authority {
  let opening: Promise<Client> | undefined

  const conversation = (signal: AbortSignal) => ({ directory: settings.directory, root: settings.root, signal })

  /** One opening serves all who wait, so none of them can cancel it; after a failure the next caller tries. */
  function client(): Promise<Client> {
    opening ??= converse(conversation(context.stopping), () => openClient(context, settings)).catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    settings,
    talk: (signal, work) =>
      converse(conversation(signal), async () => {
        const first = await unlessAborted(client(), signal)
        try {
          return await work(first)
        } catch (error) {
          if (!(error instanceof AcmeProblem) || error.type !== 'accountDoesNotExist') throw error
          if ((await opening) === first) {
            keepAccountUrl(context.db, settings.directory, null)
            opening = undefined
          }
          return await work(await client())
        }
      }),
  }
}

/** The library is loaded when first needed: it takes longer than the rest of the start, and most starts need no certificate. */
async function openClient(context: AuthorityContext, settings: AcmeSettings): Promise<Client> {
  const { Client, axios } = await import('acme-client')
  axios.defaults.adapter = fetchAdapter
  const account = accountAt(context, settings.directory)
  const client = new Client(optionsOf(settings, account))
  if (account.url === undefined) {
    keepAccountUrl(context.db, settings.directory, await openAccount(client, settings))
  }
  return client
}

/** Opens our account or finds it again: an earlier control plane may have died before it heard of it. */
async function openAccount(client: Client, { email }: AcmeSettings): Promise<string> {
  const contact = email === undefined ? {} : { contact: [`mailto:${email}`] }
  try {
    await client.createAccount({ termsOfServiceAgreed: true, ...contact })
  } catch (error) {
    // The library updates an account that it finds again, which authorities may refuse. It knows the address then.
    if (!isAccountKnown(client)) throw error
  }
  return client.getAccountUrl()
}

function isAccountKnown(client: Client): boolean {
  try {
    return client.getAccountUrl() !== ''
  } catch {
    return false
  }
}

function optionsOf({ directory, externalAccount }: AcmeSettings, { key, url }: Account): ConstructorParameters<typeof Client>[0] {
  return {
    directoryUrl: directory,
    accountKey: key,
    ...(url === undefined ? {} : { accountUrl: url }),
    ...(externalAccount === undefined ? {} : { externalAccountBinding: externalAccount }),
  }
}
