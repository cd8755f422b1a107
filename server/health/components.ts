import type { Context } from '../context.ts'
import type { Component } from './check.ts'

/** The parts whose health is told. Without the engine what runs keeps running; without the ingress nothing can be reached. */
export const platformComponents = ({ db, engine, ingress }: Pick<Context, 'db' | 'engine' | 'ingress'>): Component[] => [
  { name: 'database', without: 'down', probe: () => db.query('SELECT 1').get() },
  { name: 'ingress', without: 'down', probe: () => ingress.status() },
  { name: 'engine', without: 'degraded', probe: () => engine.list() },
]
