import { domainToASCII, domainToUnicode } from 'node:url'
import { describe, expect, test } from 'vitest'
import { canonicalHostName, parseDomainName, refuseReservedNames } from '../../shared/domain.ts'
import { looksLike, skeletonOf } from '../../shared/look-alike.ts'
import { decodeLabel } from '../../shared/punycode.ts'

const own = { baseDomain: 'apps.acme.com', publicHost: 'paas.acme.com' }

function accepted(text: string, names = own) {
  const domain = parseDomainName(text)
  refuseReservedNames(domain, names)
  return domain
}

describe('a host name', () => {
  test.each([
    ['EXAMPLE.com.', 'example.com', 'apex', 'com'],
    ['www.example.com', 'www.example.com', 'subdomain', 'com'],
    ['shop.example.co.uk', 'shop.example.co.uk', 'subdomain', 'co.uk'],
    ['example.co.uk', 'example.co.uk', 'apex', 'co.uk'],
    ['me.github.io', 'me.github.io', 'apex', 'github.io'],
    ['a.me.github.io', 'a.me.github.io', 'subdomain', 'github.io'],
    ['city.kawasaki.jp', 'city.kawasaki.jp', 'apex', 'kawasaki.jp'],
    ['straße.de', 'xn--strae-oqa.de', 'apex', 'de'],
    ['日本.jp', 'xn--wgv71a.jp', 'apex', 'jp'],
    ['пример.рф', 'xn--e1afmkfd.xn--p1ai', 'apex', 'xn--p1ai'],
    ['ACME．net', 'acme.net', 'apex', 'net'],
    ['intra.corp', 'intra.corp', 'apex', 'corp'],
    ['acme.com', 'acme.com', 'apex', 'com'],
    ['apps.acme.com.elsewhere.net', 'apps.acme.com.elsewhere.net', 'subdomain', 'net'],
  ])('%j is kept as %s, an %s below %s', (text, name, domainType, publicSuffix) => {
    expect(accepted(text)).toMatchObject({ name, domainType, publicSuffix })
  })

  test.each([
    ['1.2.3.4', 'is an address'],
    ['1.2.3', 'is an address'],
    ['::1', 'is an address'],
    ['[2001:db8::1]', 'is an address'],
    ['0x7f.1', 'is not a host name'],
    ['2130706433', 'is an address'],
    ['example.com:443', 'names a port'],
    ['https://example.com/', 'is a URL'],
    ['*.example.com', 'is a wildcard'],
    ['user@example.com', 'is not a host name'],
    ['example.com/path', 'is not a host name'],
    ['foo%2e.com', 'is not a host name'],
    ['exa mple.com', 'is not a host name'],
    ['a..b.com', 'is not a host name'],
    ['.example.com', 'is not a host name'],
    ['-a.com', 'is not a host name'],
    ['a-.com', 'is not a host name'],
    ['_dmarc.example.com', 'is not a host name'],
    [`${'a'.repeat(64)}.com`, 'is not a host name'],
    [`${'a.'.repeat(126)}com`, 'is not a host name'],
    ['xn--a.com', 'is not a host name'],
    ['', 'is not a host name'],
    ['--upload-pack=x', 'is not a host name'],
    ['$(id).com', 'is not a host name'],
    ['web', 'is a single label'],
    ['com', 'is a single label'],
    ['co.uk', 'is a public suffix'],
    ['github.io', 'is a public suffix'],
    ['kawasaki.jp', 'is a public suffix'],
    ['аpple.com', 'mixes letters'],
    ['αcme.com', 'mixes letters'],
  ])('%j is refused: it %s', (text, reason) => {
    expect(() => accepted(text)).toThrow(reason)
  })

  test.each([
    ['apps.acme.com', 'belongs to this platform'],
    ['x.apps.acme.com', 'belongs to this platform'],
    ['a.b.apps.acme.com', 'belongs to this platform'],
    ['PAAS.acme.com.', "platform's own API"],
    ['shop.test', 'are reserved'],
    ['shop.localhost', 'are reserved'],
    ['nas.home.arpa', 'are reserved'],
    ['4.3.2.1.in-addr.arpa', 'are reserved'],
    ['printer.local', 'are reserved'],
    ['acrne.com', 'looks like acme.com'],
    ['www.acrne.com', 'looks like acme.com'],
    ['асме.com', 'looks like acme.com'],
    ['www.ácme.com', 'looks like acme.com'],
    ['paas.асме.com', 'looks like'],
  ])('%j is refused for whose it is: %s', (text, reason) => {
    expect(() => accepted(text)).toThrow(reason)
  })

  test('a name for special use is accepted where the whole platform is below one', () => {
    const inside = { baseDomain: 'paas.internal', publicHost: 'localhost' }
    expect(accepted('shop.internal', inside).name).toBe('shop.internal')
    expect(() => accepted('shop.test', inside)).toThrow('are reserved')
    expect(() => accepted('x.paas.internal', inside)).toThrow('belongs to this platform')
    expect(() => accepted('shop.localhost', { baseDomain: 'localhost', publicHost: 'localhost' })).toThrow('belongs to this platform')
  })

  test('the longest name that DNS knows is accepted', () => {
    const label = 'a'.repeat(63)
    const name = `${label}.${label}.${label}.${'a'.repeat(57)}.com`
    expect(name).toHaveLength(253)
    expect(accepted(name).name).toBe(name)
    expect(() => accepted(`a${name.slice(0, -4)}.com`)).toThrow('is not a host name')
  })

  test('a refusal shows what cannot be seen', () => {
    expect(() => parseDomainName('\u202eacme.com\u0007')).toThrow('"\ufffdacme.com\ufffd" is not a host name')
  })

  test('what is accepted is a name that stays the same when it is read again', () => {
    const letters = [...'aZ0-._*@:/%[]#?\\ \t\u00e4\u0430\u3042\u200d\u202e\ufeff\u0000']
    for (let round = 0; round < 5000; round++) {
      const text = Array.from({ length: 1 + (round % 12) }, () => letters[Math.floor(Math.random() * letters.length)]).join('')
      const name = canonicalHostName(text)
      if (name === undefined) continue
      expect(name).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/)
      expect(canonicalHostName(name)).toBe(name)
    }
  })
})

describe('punycode', () => {
  test('is read as the platform itself reads it', () => {
    const words = ['bücher', '日本語', 'пример', 'ελλάδα', 'straße', 'عربي', '中文.网', 'ünïcödé', 'a日b', '😀', 'münchen-ost']
    for (const word of words) {
      const ascii = domainToASCII(word)
      const read = ascii.split('.').map((label) => decodeLabel(label))
      expect(read.join('.')).toBe(domainToUnicode(ascii))
    }
  })

  test('that is none is told from what is', () => {
    expect(decodeLabel('plain')).toBe('plain')
    for (const label of ['xn--ä', 'xn--a-!', 'xn--99999999', 'xn--a-9']) expect(decodeLabel(label)).toBeUndefined()
  })
})

describe('a look-alike', () => {
  test.each([
    ['paypal', 'раураl'],
    ['paypal', 'paypa1'],
    ['modern', 'modem'],
    ['wave', 'vvave'],
    ['google', 'g00gle'],
    ['acme', 'ácmé'],
  ])('of %j is %j', (one, other) => {
    expect(skeletonOf(other)).toBe(skeletonOf(one))
  })

  test('is not the name itself, nor what lies below it, nor another', () => {
    expect(looksLike('acme.com', 'acme.com')).toBe(false)
    expect(looksLike('www.acme.com', 'acme.com')).toBe(false)
    expect(looksLike('acne.com', 'acme.com')).toBe(false)
    expect(looksLike('acme.com.elsewhere.net', 'acme.com')).toBe(false)
    expect(looksLike('www.acrne.com', 'acme.com')).toBe(true)
  })
})
