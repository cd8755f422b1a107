/** Collects one file until it is killed. Arguments: database, file. */
import { createCollector } from '../../../../server/telemetry/logs/collector.ts'
import { openLogStore } from '../../../../server/telemetry/logs/store.ts'

const [database = '', path = ''] = process.argv.slice(2)
const collector = createCollector({ store: openLogStore(database), pollMs: 1 })
collector.follow({ path, resource: 'srv-a', instance: 'srv-a-1', type: 'app' })
setInterval(() => {}, 1000)
