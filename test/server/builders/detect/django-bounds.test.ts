import { expect, test } from 'vitest'
import { findDjango } from '../../../../server/builders/detect/django.ts'
import { sourceOf } from './source.ts'

test('Django is looked for in so many folders and files, and not more', () => {
  const folders = Array.from({ length: 2000 }, (_, n) => [`shop${n}/views.py`, ''])
  const settings = Array.from({ length: 2000 }, (_, n) => [`shop/settings/s${n}.py`, ''])
  const source = sourceOf({ ...Object.fromEntries([...folders, ...settings]), 'manage.py': '', 'shop/wsgi.py': '' })
  let count = 0
  const counted = <T>(act: (path: string) => T) => {
    return (path: string) => {
      count++
      return act(path)
    }
  }
  const files = { ...source, has: counted(source.has), read: counted(source.read) }
  expect(findDjango(files, {})?.title).toBe('Django')
  expect(count).toBeLessThan(300)
})
