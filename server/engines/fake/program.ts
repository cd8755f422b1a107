import type { Clock } from '../../platform/work/clock.ts'
import type { End } from '../port/end.ts'
import type { Used } from '../port/port.ts'

/**
 * What a fake workload does, one step after the other, separated by semicolons:
 *
 *   print TEXT     writes a line             printenv       writes its environment, each variable ended by NUL
 *   wait MS        does nothing so long      listen [PORT]  listens at its port, or another
 *   answer STATUS [PATH]   from here on answers requests for the path, or for any, with this status, or with `nothing`
 *   say TEXT       from here on its answers are this text, each $NAME in it the variable of its environment
 *   use SECONDS BYTES       has used so much of processor and memory when it ends
 *   exit CODE      ends, as with 0 after the last step      die SIGNAL     ends by a signal         oom   is killed for its memory
 *   polite TEXT    from here on writes a line and exits with 0 when asked to end      deaf  from here on ignores being asked
 *   serve          goes on for ever          echo           writes back what is typed, for ever
 *   ask NAME       writes what is answered by that name, or nobody    watch NAME     does so for ever, whenever it changes
 *   put NAME TEXT  writes a file of its volume        get NAME  writes what is in one, or that there is none
 */
interface Step {
  does: string
  with: string
}

const stepsOf = (command: string): Step[] =>
  command
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => ({ does: text.split(' ', 1)[0] ?? '', with: text.slice(text.indexOf(' ') + 1 || text.length) }))

export interface ProgramOptions {
  command: string
  env: Record<string, string>
  port?: number | undefined
  clock: Clock
  files: Map<string, string> | undefined
  ask(name: string): string | undefined
  write(bytes: Uint8Array): void
  onEnd(end: ProgramEnd): void
}

export type ProgramEnd = End & { used?: Used }

const WATCH_INTERVAL_MS = 5
const ANY_PATH = '*'

const encode = (text: string) => new TextEncoder().encode(text)

export class Program {
  readonly ports = new Set<number>()
  readonly #answers = new Map<string, string>()
  #says = ''
  readonly #options: ProgramOptions
  readonly #steps: Step[]
  #onTerm: 'die' | 'ignore' | { says: string } = 'die'
  #used: Used | undefined
  #isEchoing = false
  #isFrozen = false
  #isOver = false
  #isDue = false
  #cancel: () => void

  constructor(options: ProgramOptions) {
    this.#options = options
    this.#steps = stepsOf(options.command)
    this.#cancel = options.clock.after(0, () => this.#goOn())
  }

  terminate(): void {
    if (this.#onTerm === 'die') this.#end({ signal: 'SIGTERM' })
    else if (this.#onTerm !== 'ignore') {
      this.#print(this.#onTerm.says)
      this.#end({ exitCode: 0 })
    }
  }

  kill(signal: string): void {
    this.#end({ signal })
  }

  /** What it answers a request for a path with, 200 unless told otherwise; undefined where it answers nothing, as while it is frozen. */
  answerTo(path: string): { status: number; text: string } | undefined {
    const answer = this.#answers.get(path) ?? this.#answers.get(ANY_PATH) ?? '200'
    return this.#isFrozen || answer === 'nothing' ? undefined : { status: Number(answer), text: this.#says }
  }

  crash(end: Partial<End>): void {
    this.#end(end)
  }

  type(bytes: Uint8Array): void {
    if (this.#isEchoing && !this.#isOver) this.#options.write(bytes)
  }

  setFrozen(isFrozen: boolean): void {
    this.#isFrozen = isFrozen
    if (isFrozen || !this.#isDue) return
    this.#isDue = false
    this.#cancel = this.#options.clock.after(0, () => this.#goOn())
  }

  #goOn(): void {
    this.#isDue = this.#isFrozen
    while (!this.#isOver && !this.#isFrozen && this.#act(this.#steps.shift() ?? { does: 'exit', with: '0' }) === 'next');
  }

  #act(step: Step): 'next' | 'waits' {
    const text = step.with
    switch (step.does) {
      case 'print':
        this.#print(text)
        return 'next'
      case 'put':
        this.#put(text)
        return 'next'
      case 'get':
        this.#print(this.#options.files?.get(text) ?? 'none')
        return 'next'
      case 'printenv':
        this.#printEnv()
        return 'next'
      case 'listen':
        this.ports.add(text === '' ? (this.#options.port ?? 0) : Number(text))
        return 'next'
      case 'say':
        this.#says = text.replace(/\$(\w+)/g, (_, name: string) => this.#options.env[name] ?? '')
        return 'next'
      case 'ask':
        this.#print(this.#asked(text))
        return 'next'
      case 'use':
        this.#use(text)
        return 'next'
      case 'watch':
        this.#watch(text)
        return 'waits'
      case 'answer':
        this.#setAnswer(text)
        return 'next'
      case 'polite':
        this.#onTerm = { says: text }
        return 'next'
      case 'deaf':
        this.#onTerm = 'ignore'
        return 'next'
      case 'wait':
        this.#cancel = this.#options.clock.after(Number(text), () => this.#goOn())
        return 'waits'
      case 'echo':
        this.#isEchoing = true
        return 'waits'
      case 'serve':
        return 'waits'
      default:
        this.#end(endOf(step))
        return 'waits'
    }
  }

  #asked(name: string): string {
    return `${name}: ${this.#options.ask(name) ?? 'nobody'}`
  }

  #watch(name: string, before = ''): void {
    const heard = this.#asked(name)
    if (heard !== before) this.#print(heard)
    this.#cancel = this.#options.clock.after(WATCH_INTERVAL_MS, () => this.#watch(name, heard))
  }

  #setAnswer(text: string): void {
    const [status = '', path = ANY_PATH] = text.split(' ')
    this.#answers.set(path, status)
  }

  #print(text: string): void {
    this.#options.write(encode(`${text}\n`))
  }

  #use(text: string): void {
    const [cpuSeconds, peakMemoryBytes] = text.split(' ').map(Number)
    this.#used = { cpuSeconds: cpuSeconds ?? 0, peakMemoryBytes: peakMemoryBytes ?? 0 }
  }

  #put(text: string): void {
    const [name = ''] = text.split(' ', 1)
    this.#options.files?.set(name, text.slice(name.length + 1))
  }

  #printEnv(): void {
    for (const [name, value] of Object.entries(this.#options.env)) this.#options.write(encode(`${name}=${value}\0`))
  }

  #end(end: Partial<End>): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancel()
    this.ports.clear()
    this.#options.onEnd({ exitCode: null, signal: null, ...end, ...(this.#used && { used: this.#used }) })
  }
}

const NOT_FOUND = 127

function endOf(step: Step): Partial<End> {
  if (step.does === 'exit') return { exitCode: Number(step.with) }
  if (step.does === 'die') return { signal: step.with }
  return step.does === 'oom' ? { signal: 'SIGKILL', why: 'out_of_memory' } : { exitCode: NOT_FOUND }
}
