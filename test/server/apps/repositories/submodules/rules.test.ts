import { describe, expect, test } from 'vitest'
import { isPlainPath, locateSubmodule, submodulesIn, urlsByPath } from '../../../../../server/apps/repositories/fetch/submodules/rules.ts'
import { parseRepositoryUrl, type RepositoryUrl } from '../../../../../shared/repository.ts'

function urlOf(text: string): RepositoryUrl {
  const url = parseRepositoryUrl(text)
  if (url === undefined) throw new Error(`${text} is no URL.`)
  return url
}

const located = (url: string, parent: string, own = parent): string =>
  locateSubmodule({ path: 'lib', url }, { url: urlOf(parent), own: urlOf(own) }).href

describe('a submodule', () => {
  test.each([
    ['../lib', 'https://git.example.com/acme/shop', 'https://git.example.com/acme/lib'],
    ['../../other/lib.git', 'https://git.example.com/acme/shop.git', 'https://git.example.com/other/lib.git'],
    ['./lib', 'https://git.example.com:3000/acme/shop/', 'https://git.example.com:3000/acme/shop/lib'],
    ['../lib', 'git@git.example.com:acme/shop.git', 'git@git.example.com:acme/lib'],
    ['../lib', 'git@git.example.com:shop.git', 'git@git.example.com:lib'],
    ['../lib', 'ssh://git@git.example.com:2222/acme/shop', 'ssh://git@git.example.com:2222/acme/lib'],
    ['https://elsewhere.example.com/a/b', 'https://git.example.com/acme/shop', 'https://elsewhere.example.com/a/b'],
  ])('at %s of %s is found at %s', (url, parent, found) => {
    expect(located(url, parent)).toBe(found)
  })

  test.each([
    ...['ext::sh -c id', 'file:///etc', '/etc', '-uid', '--upload-pack=id', 'git://git.example.com/a/b', 'http://git.example.com/a/b'],
    ...['https://name:word@git.example.com/a/b', '../../../../a', '..\\lib', '', './-oProxyCommand=id;x', 'https://git.example.com/\u0000'],
  ])('at %j is refused', (url) => {
    expect(() => located(url, 'https://git.example.com/acme/shop')).toThrow('from where nothing is fetched')
  })

  test.each([
    ['git@elsewhere.example.com:a/b', 'git@git.example.com:acme/shop'],
    ['ssh://git@git.example.com:2222/a/b', 'git@git.example.com:acme/shop'],
    ['git@git.example.com:a/b', 'https://git.example.com/acme/shop'],
  ])('at %s gets no deploy key of a service at %s', (url, own) => {
    expect(() => located(url, 'https://parent.example.com/a/b', own)).toThrow("goes to the server of the service's own repository alone")
  })

  test('is at a plain path', () => {
    expect(['lib', 'a/b', 'a b', '.hidden'].every(isPlainPath)).toBe(true)
    expect(['', '/lib', 'lib/', '../lib', 'a/../b', './lib', 'a//b', 'x'.repeat(2000)].some(isPlainPath)).toBe(false)
  })
})

test('paths are told with their URLs by what git reads of .gitmodules, and only where the commit has a submodule there', () => {
  const listed = [
    ...['submodule.a.b.path\nlib', 'submodule.a.b.url\n../lib', 'submodule.x.path\nalone', 'core.sshcommand\nid'],
    ...['submodule.y.url\nu', 'submodule.z.path\nfile', 'submodule.z.url\n../z', ''],
  ].join('\0')
  const urls = urlsByPath(listed)
  expect([...urls]).toEqual([
    ['lib', '../lib'],
    ['file', '../z'],
  ])
  const [lib, file, unnamed] = ['a', 'b', 'c'].map((digit) => digit.repeat(40))
  const tree = [`160000 commit ${lib}\tlib`, `100644 blob ${file}\tfile`, `160000 commit ${unnamed}\tunnamed`, ''].join('\0')
  expect(submodulesIn(tree, urls)).toEqual([{ path: 'lib', url: '../lib', commitId: lib }])
})
