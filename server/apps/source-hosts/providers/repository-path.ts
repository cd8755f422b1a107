import { AppError } from '../../../../shared/error.ts'

/** A repository in the path of a host's API. @throws AppError not_found for what is no owner/name. */
export function pathOf(repository: string): string {
  const [owner, name, ...others] = repository.split('/')
  if (!isPart(owner) || !isPart(name) || others.length > 0)
    throw new AppError('not_found', 'A repository is named by owner/name, such as acme/shop.')
  return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
}

/** A dot or two would lead elsewhere in the API. */
const isPart = (part: string | undefined): part is string =>
  part !== undefined && /^[A-Za-z0-9._-]{1,100}$/.test(part) && !/^\.+$/.test(part)
