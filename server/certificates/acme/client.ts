import type { Client } from 'acme-client'
import type { Context } from '../../context.ts'
import { unlessAborted } from '../../work/unless-aborted.ts'
import type { AcmeSettings } from '../settings.ts'
import { type Account, accountAt, keepAccountUrl } from './account.ts'
import { AcmeProblem } from './problem.ts'
import { converse, fetchAdapter } from './transport.ts'

/** The authority, spoken to with our account there. */
export interface Authority {
  readonly settings: AcmeSettings
  /**
   * Runs `work` with the library's client, the account opened if it is not yet. An account that the authority does not know
   * any more is opened again, and `work` begins anew.
   *
   * @throws AcmeProblem when the authority refuses or does not answer; the signal's reason when it aborts.
   */
  talk<T>(signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T>
}

type AuthorityContext = Pick<Context, 'db' | 'sealer' | 'now' | 'stopping'>

export function createAuthority(context: AuthorityContext, settings: AcmeSettings): Authority {
  let opening: Promise<Client> | undefined

  const conversation = (signal: AbortSignal) => ({ directory: settings.directory, root: settings.root, signal })

  /** Once for all who wait for it, so none of them can cancel it; after a failure the next one tries. */
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

/** Loaded when first needed: most starts need no certificate, and the library takes longer than the rest of the start. */
async function openClient(context: AuthorityContext, settings: AcmeSettings): Promise<Client> {
  const { Client, axios } = await import('acme-client')
  axios.defaults.adapter = fetchAdapter
  const account = accountAt(context, settings.directory)
  const client = new Client(optionsOf(settings, account))
  if (account.url === undefined) {
    const contact = settings.email === undefined ? {} : { contact: [`mailto:${settings.email}`] }
    await client.createAccount({ termsOfServiceAgreed: true, ...contact })
    keepAccountUrl(context.db, settings.directory, client.getAccountUrl())
  }
  return client
}

function optionsOf({ directory, externalAccount }: AcmeSettings, { key, url }: Account): ConstructorParameters<typeof Client>[0] {
  return {
    directoryUrl: directory,
    accountKey: key,
    ...(url === undefined ? {} : { accountUrl: url }),
    ...(externalAccount === undefined ? {} : { externalAccountBinding: externalAccount }),
  }
}
