import { deflateSync } from 'node:zlib'
import { entryHead, idOf, objectTypes, packOf } from '../../../support/git.ts'

export const hostileRefs = [
  'HEAD',
  'config',
  '../config',
  'refs/heads/../../config',
  'refs/heads/..',
  'refs/heads/a.lock',
  'refs/heads/.hidden',
  'refs/heads/-option',
  'refs/heads/a b',
  'refs/heads/a..b',
  'refs/heads/a@{0}',
  'refs/heads/a//b',
  'refs/heads/a\\b',
  'refs/heads/\u001b[2J',
  'refs/heads/a\u202eb',
  'refs/heads/a\nok refs/heads/b',
  `refs/heads/${'a'.repeat(300)}`,
  'refs/cpd/pushes/x/0',
  'refs/replace/0000000000000000000000000000000000000001',
  'refs/notes/commits',
]

const commitText = (tree: string): Buffer =>
  Buffer.from(`tree ${tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n[skip deploy]\n`)
const whole = (type: number, content: Uint8Array): Buffer => Buffer.concat([entryHead(type, content.length), deflateSync(content)])

/** A commit of one tree with this entry, as a pack. */
export function packWith(mode: string, name: string): { commit: string; pack: Buffer } {
  const blob = Buffer.from('x')
  const tree = Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(idOf('blob', blob), 'hex')])
  const commit = commitText(idOf('tree', tree))
  const pack = packOf([whole(objectTypes.blob, blob), whole(objectTypes.tree, tree), whole(objectTypes.commit, commit)])
  return { commit: idOf('commit', commit), pack }
}

export const good = packWith('100644', 'index.html')
const damaged = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte, at) => (at === 20 ? byte ^ 0xff : byte)))
/** Two deltas, each of which says that the other is what it is made from. */
const circle = packOf(
  ['11'.repeat(20), '22'.repeat(20)].map((base) => {
    const delta = Buffer.from([1, 1, 0x90, 1])
    return Buffer.concat([entryHead(objectTypes.refDelta, delta.length), Buffer.from(base, 'hex'), deflateSync(delta)])
  }),
)

export const hostilePacks: Record<string, Buffer> = {
  'that is none': Buffer.from('GIF89a, and nothing else'),
  'that is empty': Buffer.alloc(0),
  'cut off in the middle': good.pack.subarray(0, good.pack.length - 30),
  'with a byte that is another': damaged(good.pack),
  'that claims four thousand million objects': packOf([], 0xfffffff0),
  'whose object claims a terabyte': packOf([Buffer.concat([entryHead(objectTypes.blob, 2 ** 40), deflateSync(Buffer.from('x'))])]),
  'whose object is larger than it says': packOf([Buffer.concat([entryHead(objectTypes.blob, 1), deflateSync(Buffer.alloc(9_000_000))])]),
  'of deltas in a circle': circle,
  'without the objects that it leads to': packOf([whole(objectTypes.commit, commitText('33'.repeat(20)))]),
}
