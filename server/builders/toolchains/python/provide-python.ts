import { dirname } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { type Providing, storedTool, versionsHeld } from '../providing.ts'
import { isPython, lineOf } from '../python-specifiers.ts'
import { Unfetched } from '../registry/download.ts'
import type { Outages } from '../registry/outages.ts'
import type { Tool, Toolchains } from '../tool.ts'
import { uvPin } from '../uv/pin.ts'
import { provideUv } from '../uv/provide-uv.ts'
import { choosePython, isRelease } from './choose-python.ts'
import { fetchPython, MOST_PYTHON_BYTES } from './fetch-python.ts'

export interface PythonNeed {
  wish?: { source: string; wanted: string }
}

export interface PythonProviding extends Providing {
  /** What the machine has, the one that is used where any will do first. */
  interpreters(): Promise<Tool[]>
  /** The user as whom uv fetches an interpreter: one who owns nothing else. */
  fetchUid(): number
  outages: Outages
}

/**
 * The toolchains with the uv and the Python that a build needs: an interpreter of the machine's where one will do, else one of the store, which
 * uv fetches where it is missing. Where uv is not to be had, pip stays what installs. @throws AppError `bad_request` saying which Python is
 * missing and what was found; the signal's reason when aborted.
 */
export async function providePython(found: Toolchains, need: PythonNeed, providing: PythonProviding): Promise<Toolchains> {
  const uv = await uvOrNone(providing)
  if (uv === undefined) return found
  const own = await providing.interpreters()
  const python = chooseOwn(own, need.wish?.wanted) ?? (await fetchedOrNearest({ need, own, uv }, providing))
  return { ...found, uv, tools: { ...found.tools, python } }
}

async function uvOrNone(providing: PythonProviding): Promise<Tool | undefined> {
  try {
    return await providing.outages.unless({ of: 'uv', kind: Unfetched }, () => provideUv(providing))
  } catch (error) {
    if (!(error instanceof Unfetched)) throw error
    providing.log(`Warning: uv could not be had (${error.message}), so packages are installed by pip, which takes longer.`)
    return undefined
  }
}

/** Words that mean no version choose nothing. */
const chooseOwn = (own: readonly Tool[], wanted: string | undefined): Tool | undefined =>
  own.find(({ version }) => wanted === undefined || (version !== undefined && isPython(version, wanted) !== false))

interface Choice {
  need: PythonNeed
  own: readonly Tool[]
  uv: Tool
}

async function fetchedOrNearest(choice: Choice, providing: PythonProviding): Promise<Tool> {
  const wanted = choice.need.wish?.wanted
  try {
    return await fetched(choice, providing)
  } catch (error) {
    if (!(error instanceof Unfetched)) throw error
    const held = choosePython(wanted, await versionsHeld(providing.store, 'python'))
    const folder = held && (await providing.store.find(`python-${held}`))
    const nearest = folder && held ? storedTool(folder, held) : sameLine(choice.own, wanted)
    if (nearest === undefined) throw refusal(choice, error)
    providing.log(`Python ${wanted ?? ''} could not be fetched (${error.message}), so it is ${nearest.version}.`)
    return nearest
  }
}

async function fetched({ need, uv }: Choice, providing: PythonProviding): Promise<Tool> {
  const wanted = need.wish?.wanted
  const version = choosePython(wanted, uvPin.pythons) ?? (wanted !== undefined && isRelease(wanted) ? wanted : undefined)
  if (version === undefined) throw new Unfetched('uv knows none that fits')
  const make = (into: string, signal: AbortSignal) =>
    fetchPython(into, version, { ...providing, signal, uv: dirname(uv.directory), uid: providing.fetchUid() })
  const folder = await providing.store.ensure(`python-${version}`, { mostBytes: MOST_PYTHON_BYTES, make }, providing.signal)
  return storedTool(folder, version)
}

/** Releases of one line differ in what was mended. */
const sameLine = (own: readonly Tool[], wanted: string | undefined): Tool | undefined =>
  wanted !== undefined && isRelease(wanted) ? chooseOwn(own, lineOf(wanted)) : undefined

function refusal({ need: { wish }, own }: Choice, problem: Unfetched): AppError {
  const asked = wish === undefined ? 'This app needs Python 3' : `This app needs Python ${wish.wanted} (${wish.source})`
  const versions = own.map(({ version }) => version).join(', ')
  const has = versions === '' ? 'there is none on this server' : `this server has ${versions}`
  const advice =
    'name another version, or ask the operator of this server to install it, or to set UV_PYTHON_INSTALL_MIRROR to a place that the server reaches'
  const message = `${asked}, and ${has}. uv could not fetch it: ${problem.message}. To go on, ${advice}`
  return new AppError('bad_request', message, { cause: problem })
}
