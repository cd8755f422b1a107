import type { Engine } from '../../server/engines/port/port.ts'
import type { Clock } from '../../server/platform/work/clock.ts'

/** Says whether a control plane has been killed. What it asked then is never answered, and what it waited for never comes. */
export interface Life {
  isOver: boolean
}

const never = <T>(): Promise<T> => new Promise(() => {})

/** A part as a control plane sees it that may be killed at any moment: every promise that it gives is one to the living. `own` takes the place of some of it. */
export function mortal<Part extends object>(part: Part, life: Life, own: Partial<Part> = {}): Part {
  return new Proxy(part, {
    get(target, name) {
      if (Reflect.has(own, name)) return Reflect.get(own, name)
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        if (life.isOver) return never()
        const answer: unknown = Reflect.apply(value, target, given)
        return answer instanceof Promise ? toTheLiving(answer, life) : answer
      }
    },
  })
}

async function toTheLiving<T>(answer: Promise<T>, life: Life): Promise<T> {
  try {
    const value = await answer
    return life.isOver ? await never() : value
  } catch (error) {
    if (life.isOver) return await never()
    throw error
  }
}

export function mortalEngine(engine: Engine, life: Life): Engine {
  const onExit: Engine['onExit'] = (listener) =>
    engine.onExit((...told) => {
      if (!life.isOver) listener(...told)
    })
  const output = mortal(engine.output, life, { open: (named) => mortal(engine.output.open(named), life) })
  return mortal(engine, life, { onExit, output })
}

export const mortalClock = ({ now, after }: Clock, life: Life): Clock => ({
  now,
  after: (delayMs, run) =>
    after(delayMs, () => {
      if (!life.isOver) run()
    }),
})
