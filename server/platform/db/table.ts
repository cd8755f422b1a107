import type { Database } from 'bun:sqlite'
import { AppError, messageOf } from '../../../shared/error.ts'
import { memo } from '../memo.ts'
import type { Codec, Stored } from './codec.ts'

const REMEMBERED_STATEMENTS = 200

export type Column<T> = [T] extends [Stored] ? string | CodedColumn<T> : CodedColumn<T>

interface CodedColumn<T> {
  column: string
  as: Codec<T>
}

export type Columns<T> = { readonly [F in keyof T]-?: Column<T[F]> }

export type Row = Record<string, Stored>

export type Bindings = Record<string, Stored>

export interface Table<T> {
  /** The select list, each column named by its table: for joins, and after RETURNING. */
  readonly columns: string
  /** @throws AppError `internal` naming table, column and row where a value cannot be read. */
  present(row: Row): T
  /** The first row of `SELECT … FROM table` and the rest of a statement. @throws AppError as `present` does. */
  get(db: Database, rest: string, bindings?: Bindings): T | undefined
  /** All such rows. With `onUnreadable`, rows that cannot be read are told to it and left out; without, the first of them is thrown. */
  all(db: Database, rest: string, bindings?: Bindings, onUnreadable?: (error: AppError) => void): T[]
  /** Adds a row of what is named; `rest` is what follows the values, such as ON CONFLICT. Returns whether there was anything to add. */
  insert(db: Database, values: Partial<T>, rest?: string): boolean
  put(db: Database, value: T): void
  /** Changes what is named, and nothing else, in all rows whose fields are those of `where`. Returns how many there were. */
  update(db: Database, where: Partial<T>, change: Partial<T>): number
  remove(db: Database, where: Partial<T>): number
}

interface Field {
  name: string
  column: string
  codec: Codec<unknown> | undefined
}

interface Cell {
  field: Field
  value: Stored
}

/** A table by its map of columns, checked against the type of its rows; columns in no field, such as secrets, are left alone. */
export function tableOf<T extends object>(table: string, columns: Columns<T>): Table<T> {
  const fields = Object.entries(columns).map(([name, column]) => fieldOf(name, column as string | CodedColumn<unknown>))
  const byName = new Map(fields.map((field) => [field.name, field]))
  const coded = fields.filter(({ codec }) => codec !== undefined)
  const list = fields.map(({ name, column }) => `${table}.${column} AS "${name}"`).join(', ')
  const present = (row: Row): T => {
    const id = row.id
    for (const field of coded) row[field.name] = readField(table, field, { stored: row[field.name] ?? null, id }) as Stored
    return row as T
  }
  // A text that is put together anew is hashed anew at each look-up of its statement, which costs more than short queries do.
  const select = memo((rest: string) => `SELECT ${list} FROM ${table} ${rest}`, REMEMBERED_STATEMENTS)
  const query = (db: Database, rest: string) => db.query<Row, [Bindings]>(select(rest))
  const written = (values: Partial<T>): Cell[] =>
    Object.entries(values).map(([name, value]) => {
      const field = byName.get(name)
      if (field === undefined) throw new Error(`${table} has no field ${name}`)
      return { field, value: field.codec === undefined ? (value as Stored) : field.codec.write(value) }
    })
  const add = (db: Database, verb: string, { values, rest }: { values: Partial<T>; rest: string }): number => {
    const cells = written(values)
    const names = cells.map(({ field }) => field.column).join(', ')
    const sql = `${verb} INTO ${table} (${names}) VALUES (${cells.map(() => '?').join(', ')}) ${rest}`
    return db.query(sql).run(...cells.map(({ value }) => value)).changes
  }
  return {
    columns: list,
    present,
    get(db, rest, bindings = {}) {
      const row = query(db, rest).get(bindings)
      return row === null ? undefined : present(row)
    },
    all(db, rest, bindings = {}, onUnreadable) {
      const rows = query(db, rest).all(bindings)
      return onUnreadable === undefined ? rows.map(present) : rows.flatMap((row) => readable(() => present(row), onUnreadable))
    },
    insert: (db, values, rest = '') => add(db, 'INSERT', { values, rest }) > 0,
    put: (db, value) => void add(db, 'INSERT OR REPLACE', { values: value, rest: '' }),
    update(db, where, change) {
      const [changed, matched] = [written(change), written(where)]
      if (changed.length === 0) return 0
      const sql = `UPDATE ${table} SET ${changed.map(({ field }) => `${field.column} = ?`).join(', ')} WHERE ${equalTo(matched)}`
      return db.query(sql).run(...[...changed, ...matched].map(({ value }) => value)).changes
    },
    remove(db, where) {
      const matched = written(where)
      return db.query(`DELETE FROM ${table} WHERE ${equalTo(matched)}`).run(...matched.map(({ value }) => value)).changes
    },
  }
}

const equalTo = (cells: readonly Cell[]): string => cells.map(({ field }) => `${field.column} IS ?`).join(' AND ')

const fieldOf = (name: string, column: string | CodedColumn<unknown>): Field =>
  typeof column === 'string' ? { name, column, codec: undefined } : { name, column: column.column, codec: column.as }

function readField(table: string, { column, codec }: Field, { stored, id }: { stored: Stored; id: Stored | undefined }): unknown {
  try {
    return codec?.read(stored)
  } catch (cause) {
    const row = id === undefined ? '' : ` of ${String(id)}`
    throw new AppError('internal', `${table}.${column}${row} cannot be read: ${messageOf(cause)}`, { cause })
  }
}

function readable<T>(read: () => T, onUnreadable: (error: AppError) => void): T[] {
  try {
    return [read()]
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    onUnreadable(error)
    return []
  }
}
