/** What the columns of JSON in services hold. Parsing settings was a fifteenth of an API read, so parsed values are remembered and shared. */
import { Type } from '@sinclair/typebox'
import { defaultControls, ServiceControls } from '../../../shared/service-controls.ts'
import { defaultLabels, ServiceLabels } from '../../../shared/service-labels.ts'
import { json } from '../../platform/db/json-column.ts'
import { defaultSettings, ServiceSettings } from './settings.ts'

const REMEMBERED = 2000

/** Settings of a service or a release; settings that it was never given are the defaults. */
export const settingsColumn = json({ schema: ServiceSettings, defaults: defaultSettings, remembered: REMEMBERED })

/** Controls of a service; controls that it was never given are the defaults. */
export const controlsColumn = json({ schema: ServiceControls, defaults: defaultControls, remembered: REMEMBERED })

/** Labels of a service; labels that it was never given are the defaults. */
export const labelsColumn = json({ schema: ServiceLabels, defaults: defaultLabels, remembered: REMEMBERED })

/** The figures that a cut-over guard compares with. */
export const figuresColumn = json({ schema: Type.Object({ requests: Type.Number(), errors: Type.Number(), crashes: Type.Number() }) })
