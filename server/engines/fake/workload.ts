/** What the fake machine needs to know to run something. */
export interface Workload {
  id: string
  kind: 'instance' | 'task' | 'terminal'
  serviceId: string
  command: string
  env: Record<string, string>
  port: number
  /** Under which name its output is kept. */
  outputId: string
  onOutput?(bytes: Uint8Array): void
}
