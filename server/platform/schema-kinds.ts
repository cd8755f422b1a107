import { TypeRegistry } from '@sinclair/typebox'

// TypeBox leaves schemas of the kind `Unsafe` to us; ours are the closed lists made by `OneOf`.
TypeRegistry.Set<{ enum?: unknown[] }>('Unsafe', (schema, value) => schema.enum?.includes(value) ?? true)
