/** Parsing settings was a fifteenth of an API read, so parsed values are remembered and shared. */
import { Type } from '@sinclair/typebox'
import { defaultControls, ServiceControls } from '../../../shared/service-controls.ts'
import { defaultLabels, ServiceLabels } from '../../../shared/service-labels.ts'
import { json } from '../../platform/db/json-column.ts'
import { defaultSettings, ServiceSettings } from './settings.ts'

const REMEMBERED = 2000

/** Members that a kept value lacks are the defaults: they came after it. */
export const settingsColumn = json({ schema: ServiceSettings, defaults: defaultSettings, remembered: REMEMBERED })

export const controlsColumn = json({ schema: ServiceControls, defaults: defaultControls, remembered: REMEMBERED })

export const labelsColumn = json({ schema: ServiceLabels, defaults: defaultLabels, remembered: REMEMBERED })

export const figuresColumn = json({ schema: Type.Object({ requests: Type.Number(), errors: Type.Number(), crashes: Type.Number() }) })
