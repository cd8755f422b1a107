import { isId } from '../../shared/id.ts'
import { usageError } from '../base/error.ts'
import { type OfService, splitService } from '../finding/service.ts'

/** A domain of a service, as the words of a command name them. */
export interface NamedDomain {
  /** Undefined for the folder's service. */
  service: string | undefined
  domain: string
}

/** @throws CliError with the usage exit code. */
export function domainIn(words: readonly string[], options: OfService): NamedDomain {
  const { name, rest } = splitService(words, 1, options)
  const [domain = ''] = rest
  if (!domain.includes('.') && !isId('customDomain', domain))
    throw usageError(`${domain} is no host name.`, 'Give one such as www.example.com, after the service if it is not that of this folder.')
  return { service: name, domain }
}
