import type { Database } from 'bun:sqlite'
import { insertPreview, type StoredPreview } from '../../server/apps/previews/store.ts'
import { repositoryKey } from '../../shared/repository.ts'

/** A request of which a host has told; of a fork, unless it is said otherwise. */
export const anyRequest: Omit<StoredPreview, 'parentId' | 'number'> = {
  repository: repositoryKey('https://git.example.com/ada/shop') ?? '',
  title: 'Sell hats',
  url: 'https://git.example.com/ada/shop/pulls/1',
  headBranch: 'hats',
  headRepository: 'eve/shop',
  headCommit: 'a'.repeat(40),
  isFork: true,
  isOpen: true,
  isLabelled: false,
  isAsked: false,
  dismissedCommit: null,
  approvedCommit: null,
  deployedCommit: null,
  serviceId: null,
  problem: null,
  pushedAt: 0,
  createdAt: 0,
  updatedAt: 0,
  commentMark: null,
  commentId: null,
  commentText: '',
  commentAttempts: 0,
  commentNextAt: 0,
}

/** Writes down a request of a service as if its host had told of it. Returns its number as it stands in paths. */
export function addRequest({ db }: { db: Database }, parentId: string, request: Partial<StoredPreview> = {}): string {
  const { number = 1 } = request
  insertPreview(db, { ...anyRequest, pushedAt: Date.now(), createdAt: Date.now(), updatedAt: Date.now(), ...request, parentId, number })
  return String(number)
}
