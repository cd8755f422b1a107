import { expect, test } from 'vitest'
import { hostKeyIn, hostOf, sshConfig } from '../../../../../server/apps/repositories/git/ssh.ts'

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

test('a server is known by its name, with its port where that is its own', () => {
  expect(hostOf({ host: 'git.example.com', port: undefined })).toBe('git.example.com')
  expect(hostOf({ host: 'git.example.com', port: 22 })).toBe('git.example.com')
  expect(hostOf({ host: 'git.example.com', port: 2222 })).toBe('[git.example.com]:2222')
})

test('the first key of a host is taken, and later no other one', () => {
  const way = { host: 'git.example.com', address: '93.184.216.34' }
  expect(sshConfig({ ...way, hostKey: undefined })).toContain('\nStrictHostKeyChecking accept-new\n')
  expect(sshConfig({ ...way, hostKey: key })).toContain('\nStrictHostKeyChecking yes\n')
})

test.each([
  ['another host', `git.example.com.evil ${key}\n`],
  ['no key', 'git.example.com\n'],
  ['a marker', `git.example.com @cert-authority ${key}\n`],
  ['what is no key', 'git.example.com ssh-ed25519 "$(id)"\n'],
  ['a kind that is none', `git.example.com -oProxyCommand=id ${key}\n`],
])('a file of known hosts with %s names no key', (_, text) => {
  expect(hostKeyIn(text, 'git.example.com')).toBeUndefined()
})

test('the key that ssh has written down is found', () => {
  expect(hostKeyIn(`git.example.com ${key}\n`, 'git.example.com')).toBe(key)
})
