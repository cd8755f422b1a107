import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  candidateSubnets,
  hexOf,
  instanceAddress,
  isTaken,
  parseSubnet,
  virtualAddress,
} from '../../../../server/engines/process/network/addresses.ts'
import { entriesFor, tableAdvice } from '../../../../server/engines/process/network/connection-table.ts'
import { checkHostServices, parseHostService, wrongHostService } from '../../../../server/engines/process/network/host-services.ts'
import { listensOnLoopbackOnly, parseTcpTable } from '../../../../server/engines/process/network/loopback.ts'
import { openNameFiles, renderHosts, writeInPlace } from '../../../../server/engines/process/network/name-files.ts'
import { forwardDrops, tellsOfOurLinks } from '../../../../server/engines/process/network/probe.ts'
import { planResolver } from '../../../../server/engines/process/network/resolver.ts'
import { networkChain, type Rules, renderTable } from '../../../../server/engines/process/network/ruleset.ts'
import { networksIn } from '../../../../server/engines/process/network/subnet.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'

const subnet = parseSubnet('10.201.0.0/16')

describe('addresses', () => {
  test('of services and instances never meet, nor that of the host', () => {
    const virtual = Array.from({ length: 33_000 }, (_, number) => virtualAddress(subnet, number))
    const instances = Array.from({ length: 33_000 }, (_, index) => instanceAddress(subnet, index))
    expect(new Set(virtual).size).toBe(32_512)
    expect(new Set(instances).size).toBe(32_766)
    expect(new Set([...virtual, ...instances, '10.201.0.1']).size).toBe(32_512 + 32_766 + 1)
    expect(hexOf('10.201.128.10')).toBe('800a')
  })

  test('are refused as a setting unless they are a whole private /16', () => {
    for (const text of ['10.201.0.0', '10.201.3.0/16', '10.201.0.0/24', '300.1.0.0/16', '0.1.0.0/16', '224.1.0.0/16', 'fd00::/16'])
      expect(() => parseSubnet(text)).toThrow('10.201.0.0/16')
  })

  test('are taken where any route or name server is in them, or they in it, but for the default route', () => {
    for (const network of ['10.201.7.0/24', '10.201.255.53', '10.0.0.0/8', '10.200.0.0/15']) expect(isTaken(subnet, [network])).toBe(true)
    for (const network of ['10.202.0.0/16', '192.0.2.0/24', '0.0.0.0/0', 'fe80::/64']) expect(isTaken(subnet, [network])).toBe(false)
    expect(
      networksIn('default via 192.0.2.1 dev eth0\n10.1.0.0/16 dev a\nunreachable 10.2.0.0/16 metric 7\nlocal 10.3.0.1 dev lo\n'),
    ).toEqual(['10.1.0.0/16', '10.2.0.0/16', '10.3.0.1'])
    expect(new Set(candidateSubnets.map(({ cidr }) => cidr)).size).toBe(190)
  })
})

describe('the rules', () => {
  const rules: Rules = {
    table: 'cpd_test',
    linkPrefix: 'cpd12345678',
    subnet,
    ownUid: 0,
    publicPorts: [80, 443, 80],
    localResolvers: [],
    hasTimeouts: true,
    connectionsPerInstance: 8192,
    hostServices: [],
  }
  const members = new Map([
    ['10.201.128.1', 'tea-a'],
    ['10.201.128.2', 'tea-b'],
  ])
  const destinations = new Map([
    ['10.201.1.1', []],
    ['10.201.1.2', ['10.201.128.1']],
    ['10.201.1.3', ['10.201.128.1', '10.201.128.2']],
  ])

  test.each([
    ['as they are', rules],
    [
      'with no port of the ingress and without timeouts',
      { ...rules, publicPorts: [], hasTimeouts: false, connectionsPerInstance: undefined },
    ],
    [
      'with ports of this machine',
      {
        ...rules,
        hostServices: [
          { name: 'db', address: '127.0.0.1', port: 5432 },
          { name: 'other', address: '192.0.2.7', port: 5432 },
        ],
      },
    ],
    ['with name servers on this machine', { ...rules, localResolvers: ['127.0.0.53', '192.0.2.7'] }],
  ])('%s are taken by the kernel, twice over', async (_, given) => {
    const text = renderTable(given, members, destinations)
    const { exitCode, stderr } = await runProcess(['unshare', '--net', 'nft', '-f', '-'], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      input: text + text,
    })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })

  test('name no table but their own', () => {
    const text = renderTable(rules, members, destinations)
    const tables = [...text.matchAll(/\b(?:inet|ip|ip6|arp|bridge|netdev) (\w+)/g)].map(([, name]) => name)
    expect(new Set(tables.filter((name) => !['daddr', 'saddr', 'to'].includes(name ?? '')))).toEqual(new Set(['cpd_test']))
    expect(text).not.toContain('flush ruleset')
  })

  test('tell networks apart whose ids differ in signs that nftables does not know', () => {
    expect(networkChain('tea-a')).not.toBe(networkChain('tea_a'))
    expect(networkChain('tea-a"; flush ruleset')).toMatch(/^net_[0-9a-f]{16}$/)
  })
})

describe('the table of connections', () => {
  const GIB = 1024 ** 3

  test('takes a sixteenth of the memory at most, and holds a million entries at most', () => {
    expect(entriesFor(GIB)).toBe(209_715)
    expect(entriesFor(4 * GIB)).toBe(838_860)
    expect(entriesFor(64 * GIB)).toBe(1_048_576)
  })

  test('is told of where a few instances could fill it', () => {
    expect(tableAdvice(65_536)).toMatch(/^the table has room for 65536 connections only; set net\.netfilter\.nf_conntrack_max/)
    expect(tableAdvice(262_144)).toBeUndefined()
  })
})

describe('ports of this machine', () => {
  test('are read from the setting, each with a name of its own', () => {
    expect(parseHostService('db=127.0.0.1:5432')).toEqual({ name: 'db', address: '127.0.0.1', port: 5432 })
    for (const text of [
      'db',
      'db=5432',
      'db=localhost:5432',
      'db=127.0.0.1:0',
      'db=127.0.0.1:70000',
      'db=300.0.0.1:1',
      'a.b=127.0.0.1:1',
      '-a=127.0.0.1:1',
    ])
      expect(() => checkHostServices([text])).toThrow(`"${text}" is not a name`)
    expect(() => checkHostServices(['db=127.0.0.1:1', 'db=127.0.0.1:2'])).toThrow('"db" stands there twice')
  })

  test('of other machines, and those of the control plane, are refused', () => {
    const one = (address: string, port: number) => wrongHostService([{ name: 'db', address, port }], [8400])
    expect(one('127.0.0.1', 5432)).toBeUndefined()
    expect(one('192.0.2.1', 5432)).toBe('db: 192.0.2.1 is not an address of this machine')
    expect(one('127.0.0.1', 8400)).toBe("db: port 8400 is the control plane's own")
  })
})

describe('another firewall', () => {
  const chain = (policy: string, hook = 'forward') => ({ chain: { family: 'ip', table: 'filter', name: 'FORWARD', hook, policy } })
  const rule = (iifname: string) => ({
    rule: {
      family: 'ip',
      table: 'filter',
      chain: 'DOCKER-USER',
      expr: [{ match: { left: { meta: { key: 'iifname' } }, right: iifname } }],
    },
  })
  test('that drops forwarded packets is named, unless it has been told of our links', () => {
    expect(forwardDrops({ nftables: [chain('drop'), chain('accept'), chain('drop', 'input')] })).toEqual([chain('drop').chain])
    expect(tellsOfOurLinks({ nftables: [chain('drop'), rule('eth0')] })).toBe(false)
    expect(tellsOfOurLinks({ nftables: [chain('drop'), rule('cpd*')] })).toBe(true)
  })
})

describe('name servers', () => {
  test('of the network are taken over with the domains to search', () => {
    const { text, local } = planResolver(
      '# made by hand\nnameserver 192.0.2.53\nnameserver fd00::1\nsearch a.example\noptions edns0\n',
      '10.201.0.1',
      [],
    )
    expect(text).toBe('nameserver 192.0.2.53\nsearch a.example\noptions edns0\n')
    expect(local).toEqual([])
  })
  test('of this machine itself are let through to, those on loopback at the gateway', () => {
    const { text, local } = planResolver('nameserver 127.0.0.53\nnameserver 192.0.2.2\n', '10.201.0.1', ['127.0.0.1', '192.0.2.2'])
    expect(text).toBe('nameserver 10.201.0.1\nnameserver 192.0.2.2\n')
    expect(local).toEqual(['127.0.0.53', '192.0.2.2'])
  })
})

describe('files of names', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'names-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test('are changed in place and never get shorter', () => {
    const path = join(dir, 'one')
    writeInPlace(path, 'a long first text\n')
    const { ino } = statSync(path)
    writeInPlace(path, 'short\n')
    expect(readFileSync(path, 'utf8')).toMatch(/^short\n+$/)
    expect(statSync(path)).toMatchObject({ ino, size: 18 })
    writeInPlace(path, 'and now a longer one again\n')
    expect(readFileSync(path, 'utf8')).toBe('and now a longer one again\n')
    expect(statSync(path).ino).toBe(ino)
  })

  describe('hold the names of one network', () => {
    const api = { address: '10.201.1.1', names: ['api', 'api-x1'] }
    const networks = new Map([
      ['srv-one', 'tea-a'],
      ['srv-two', 'tea-b'],
    ])
    let named: Record<string, (typeof api)[]> = { 'tea-a': [api] }
    const open = (name: string) =>
      openNameFiles(join(dir, name), {
        networkOf: (ownerId) => networks.get(ownerId),
        namesIn: (networkId) => named[networkId] ?? [],
        fixed: [{ address: '10.201.0.2', names: ['db'] }],
      })
    const textOf = (path: string) => readFileSync(path, 'utf8')

    test('and lose them with their services', async () => {
      const files = open('all')
      const path = files.pathOf('srv-one')
      expect(textOf(path)).toContain('\n10.201.0.2 db\n10.201.1.1 api api-x1\n')
      for (const other of ['srv-two', 'srv-three', undefined]) expect(textOf(files.pathOf(other))).not.toContain('api')
      named = {}
      await files.update()
      expect(textOf(path)).not.toContain('api')
      files.keepOnly({ owners: new Set(['srv-two']), networks: new Set() })
      expect([path, files.pathOf('srv-two')].map((one) => existsSync(one))).toEqual([false, true])
    })

    test("in place, when the file's owner moves to another network and back", async () => {
      named = { 'tea-a': [api], 'tea-b': [{ address: '10.201.1.2', names: ['backend'] }] }
      const files = open('moving')
      const path = files.pathOf('srv-one')
      const { ino } = statSync(path)
      const seen: unknown[] = []
      for (const network of ['tea-b', 'tea-a']) {
        networks.set('srv-one', network)
        await files.update()
        seen.push([textOf(path).includes(' backend'), textOf(path).includes(' api'), statSync(path).ino])
      }
      expect(seen).toEqual([
        [true, false, ino],
        [false, true, ino],
      ])
    })

    test('also in the file of a network, which an earlier version bound over those of what it started', async () => {
      mkdirSync(join(dir, 'earlier'))
      const path = join(dir, 'earlier', 'of-tea-a')
      writeFileSync(path, '')
      named = { 'tea-a': [api] }
      const files = open('earlier')
      files.keepOnly({ owners: new Set(), networks: new Set(['tea-a']) })
      await files.update()
      expect(textOf(path)).toContain('\n10.201.1.1 api api-x1\n')
    })
  })

  test('take no name that could mean this machine, or more than a name', () => {
    const text = renderHosts([{ address: '10.201.1.1', names: ['localhost', 'a\n10.0.0.1 evil', 'fine', 'ip6-loopback', 'a b'] }])
    expect(text).toMatch(/^127\.0\.0\.1 localhost .*\n::1 ip6-localhost ip6-loopback\n10\.201\.1\.1 fine\n$/)
  })

  test('lead to a service that is called like the machine', () => {
    const text = renderHosts([{ address: '10.201.1.1', names: [hostname()] }])
    expect(text.split('\n').filter((line) => line.split(' ').includes(hostname()))).toEqual([`10.201.1.1 ${hostname()}`])
  })
})

test('a table of sockets tells who listens on loopback only, and who is connected', () => {
  const line = (local: string, remote: string, state: string) =>
    `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  1000        0 1`
  const v4 = parseTcpTable(
    [
      '  sl  local_address rem_address   st',
      line('0100007F:2710', '00000000:0000', '0A'),
      line('0A80C90A:2710', '0180C90A:1234', '01'),
    ].join('\n'),
  )
  const own = { localPort: 10_000, uid: 1000, inode: 1 }
  expect(v4).toEqual([
    { ...own, localAddress: '127.0.0.1', remoteAddress: '0.0.0.0', isListening: true, isOpen: false },
    { ...own, localAddress: '10.201.128.10', remoteAddress: '10.201.128.1', isListening: false, isOpen: true },
  ])
  expect(listensOnLoopbackOnly(v4, 10_000)).toBe(true)
  expect(listensOnLoopbackOnly(v4, 80)).toBe(false)
  const any = parseTcpTable(['', line('00000000000000000000000000000000:2710', '00000000000000000000000000000000:0000', '0A')].join('\n'))
  expect(listensOnLoopbackOnly([...v4, ...any], 10_000)).toBe(false)
})
