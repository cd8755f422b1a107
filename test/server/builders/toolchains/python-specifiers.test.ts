import { expect, test } from 'vitest'
import { choosePython } from '../../../../server/builders/toolchains/python/choose-python.ts'
import { isPython } from '../../../../server/builders/toolchains/python-specifiers.ts'

test.each([
  ['3', true],
  ['3.11', true],
  ['3.11.9', true],
  ['3.11.4', false],
  ['3.1', false],
  ['>=3.9,<4', true],
  ['>= 3.12 , < 4', false],
  ['>3.11', true],
  ['<=3.11', false],
  ['<3.12', true],
  ['~=3.9', true],
  ['~=3.11.2', true],
  ['~=3.10.0', false],
  ['==3.11.*', true],
  ['==3.11', false],
  ['==3.11.9', true],
  ['!=3.11.*', false],
  ['!=3.11.8,>=3.8', true],
  ['^3.9', true],
  ['^3.12', false],
  ['~3.11', true],
  ['~3.10', false],
  ['^2.7 || ^3.6', true],
  ['pypy3.10', undefined],
  ['>=3.9; rm -rf /', undefined],
  ['', undefined],
])('Python 3.11.9 for %j: %s', (wanted, expected) => {
  expect(isPython('3.11.9', wanted)).toBe(expected)
})

test.each([
  [undefined, '3.14.2'],
  ['>=3.9', '3.14.2'],
  ['3.13', '3.13.10'],
  ['>=3.15', '3.15.0'],
  ['3.13.9', '3.13.9'],
  ['3.12', undefined],
  ['pypy', undefined],
])('of what can be fetched, for %j it is %s: of the newest line only where nothing else will do', (wanted, expected) => {
  expect(choosePython(wanted, ['3.13.10', '3.13.9', '3.14.2', '3.15.0'])).toBe(expected)
})
