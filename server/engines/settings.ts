import { list, oneOf } from '../platform/settings/parsers.ts'
import type { SettingRows } from '../platform/settings/setting.ts'
import { engineNames } from './names.ts'
import { parseSubnet } from './process/network/addresses.ts'
import { checkHostServices } from './process/network/host-services.ts'

export const engineSettings = {
  CP_ENGINE: { default: 'process', flag: '--engine', help: 'What runs the workloads', parse: oneOf(engineNames) },
  CP_INSTANCE_SUBNET: {
    default: '',
    help: 'Network of 65536 addresses that instances get theirs from, such as 10.201.0.0/16; off has them all share the network of this machine',
    whenEmpty: '(one that this machine does not use)',
    parse: (value: string) => (value === '' || value === 'off' ? value : parseSubnet(value).cidr),
  },
  CP_HOST_SERVICES: {
    default: '',
    help: 'Ports of this machine that services reach at <name>.host.internal, such as db=127.0.0.1:5432',
    whenEmpty: '(none)',
    parse: (value: string) => checkHostServices(list(value)),
  },
} satisfies SettingRows
