import { describe, expect, test } from 'vitest'
import { isCommitId, isRefName, parseRepositoryUrl, repositoryKey } from '../../shared/repository.ts'

describe('the URL of a repository', () => {
  test.each([
    ['https://github.com/acme/shop', { scheme: 'https', host: 'github.com', path: '/acme/shop' }],
    ['https://git.example.com:3000/a/b.git', { port: 3000, href: 'https://git.example.com:3000/a/b.git' }],
    ['git@github.com:acme/shop.git', { scheme: 'ssh', user: 'git', host: 'github.com', path: 'acme/shop.git' }],
    ['ssh://git@github.com:22/acme/shop', { scheme: 'ssh', port: 22, path: '/acme/shop' }],
    ['http://127.0.0.1:8080/a', { scheme: 'http' }],
  ])('%s is read', (text, parts) => expect(parseRepositoryUrl(text)).toMatchObject(parts))

  test.each([
    'ext::sh -c id',
    'file:///etc',
    '/etc',
    '-u./touch',
    'http://github.com/acme/shop',
    'https://ada:pa55@github.com/acme/shop',
    'https://ada@github.com/acme/shop',
    'https://github.com/acme/shop?x=1',
    'https://github.com/',
    'git@github.com:a/../../b',
    'ssh://-oProxyCommand=id/x',
    'ssh://git@-oProxyCommand=id/x',
    'git@host:-oProxyCommand=id',
    'git@host:/a;id',
    `https://github.com/${'a'.repeat(1024)}`,
    'https://github.com/a\nb',
  ])('%j is none', (text) => expect(parseRepositoryUrl(text)).toBeUndefined())

  test('has one key in all spellings', () => {
    const spellings = [
      'https://GitHub.com/Acme/shop',
      'https://github.com/acme/shop.git/',
      'git@github.com:acme/shop.git',
      'ssh://git@github.com/acme/shop',
    ]
    expect(new Set(spellings.map(repositoryKey))).toEqual(new Set(['github.com/acme/shop']))
    expect(repositoryKey('https://github.com:444/acme/shop')).not.toBe('github.com/acme/shop')
  })
})

describe('a ref', () => {
  test.each(['main', 'feature/ü-1', 'v1.2.0', 'a'.repeat(40)])('%j can be one', (text) => expect(isRefName(text)).toBe(true))
  test.each([
    '',
    '-u',
    '--upload-pack=id',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a@{1}',
    '@',
    '/a',
    'a/',
    '.a',
    'a/.b',
    'a.lock',
    'a\0b',
    'a\nb',
    'a\u202eb',
    'a'.repeat(256),
  ])('%j can be none', (text) => expect(isRefName(text)).toBe(false))

  test('is a whole commit in lower case alone', () => {
    expect(['a'.repeat(40), 'a'.repeat(64), 'A'.repeat(40), 'a'.repeat(39)].map(isCommitId)).toEqual([true, true, false, false])
  })
})
