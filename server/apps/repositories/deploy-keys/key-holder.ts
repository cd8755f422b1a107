import type { StoredService } from '../../services/store.ts'

/** Whose deploy key lets a service in: a preview goes by that of the service that it is of, which people have given to the git server. */
export const keyHolderOf = ({ id, previewOf }: Pick<StoredService, 'id' | 'previewOf'>): string => previewOf ?? id
