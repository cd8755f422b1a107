/** One setting: how its value is read from text, and what people are told of it. */
export interface Setting<T> {
  /** The text that stands for it where nothing is given, which may depend on whether root runs the server. */
  default: string | ((isRoot: boolean) => string)
  flag?: string
  secret?: true
  /** Another name of the variable that is accepted. */
  legacyName?: string
  help: string
  /** What is in force while the setting is empty, as `cpd config` prints it. */
  whenEmpty?: string | ((values: SettingValues) => string)
  /** @throws Error whose message ends a sentence that begins with the setting's name. */
  parse(text: string): T
}

/** The settings of one group of the server, by the names of their variables. */
export type SettingRows = Readonly<Record<string, Setting<unknown>>>

/** The values of a group's settings. */
export type ValuesOf<R extends SettingRows> = { readonly [K in keyof R]: ReturnType<R[K]['parse']> }

export type SettingValues = Readonly<Record<string, unknown>>
