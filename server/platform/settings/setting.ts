export interface Setting<T> {
  /** The text that stands for it where nothing is given, which may depend on whether root runs the server. */
  default: string | ((isRoot: boolean) => string)
  flag?: string
  secret?: true
  legacyName?: string
  help: string
  /** What is in force while the setting is empty, as `cpd config` prints it. */
  whenEmpty?: string | ((values: SettingValues) => string)
  /** @throws Error whose message ends a sentence that begins with the setting's name. */
  parse(text: string): T
}

export type SettingRows = Readonly<Record<string, Setting<unknown>>>

export type ValuesOf<R extends SettingRows> = { readonly [K in keyof R]: ReturnType<R[K]['parse']> }

export type SettingValues = Readonly<Record<string, unknown>>
