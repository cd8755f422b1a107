import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { spawnProcess } from '../../server/platform/process/spawn.ts'
import { until } from '../support/until.ts'
import { COMMAND_PORT } from './guest-files.ts'
import type { GuestImage } from './image.ts'

const MEMORY_MB = 2560
const CORES = 2
const BOOT_TIMEOUT_MS = 300_000
const COMMAND_TIMEOUT_MS = 180_000
const TOOLS_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'

export interface CommandResult {
  exitCode: number
  /** Both streams. */
  output: string
}

/** A running guest. It writes to a snapshot of its disk, which goes with it. */
export interface Machine {
  /** Runs a bash script as root in the guest. @throws when it takes too long. */
  run(script: string, timeoutMs?: number): Promise<CommandResult>
  /** Restarts the guest's kernel and waits until it is up again. */
  reboot(): Promise<void>
  /** What it wrote to its console. */
  console(): string
  close(): Promise<void>
}

export interface MachineOptions {
  image: GuestImage
  /** A file that the guest sees as its second disk. */
  secondDisk: string
  /** For sockets and snapshots. */
  dir: string
}

export async function startMachine({ image, secondDisk, dir }: MachineOptions): Promise<Machine> {
  const [socketPath, consolePath] = [join(dir, 'commands.sock'), join(dir, 'console.log')]
  const consoleText = () => readFileSync(consolePath, { encoding: 'utf8' })
  let hasEnded = false
  const qemu = spawnProcess(qemuCommand({ image, secondDisk, socketPath, consolePath }), {
    // The snapshot of the disk is a file in the folder for temporary files.
    env: { PATH: TOOLS_PATH, TMPDIR: dir },
    stderr: { appendTo: join(dir, 'qemu.log') },
    onExit: () => {
      hasEnded = true
    },
  })
  const requireAlive = () => {
    if (hasEnded) throw new Error(`qemu has ended: ${readFileSync(join(dir, 'qemu.log'), 'utf8')}`)
    return true
  }
  const line = await openCommandLine(socketPath, requireAlive)
  await line.next(/^ready /, BOOT_TIMEOUT_MS)
  return {
    async run(script, timeoutMs = COMMAND_TIMEOUT_MS) {
      line.send(Buffer.from(script).toString('base64'))
      const [, exitCode, output = ''] = (await line.next(/^done /, timeoutMs)).split(' ')
      return { exitCode: Number(exitCode), output: Buffer.from(output, 'base64').toString() }
    },
    async reboot() {
      line.send(Buffer.from('systemctl reboot').toString('base64'))
      await line.next(/^ready /, BOOT_TIMEOUT_MS)
    },
    console: consoleText,
    async close() {
      line.close()
      qemu.kill('SIGKILL')
      await qemu.exited
    },
  }
}

interface QemuOptions {
  image: GuestImage
  secondDisk: string
  socketPath: string
  consolePath: string
}

/** A network of its own, from which nothing outside can be reached. */
function qemuCommand({ image, secondDisk, socketPath, consolePath }: QemuOptions): string[] {
  return [
    ...['qemu-system-x86_64', '-nodefaults', '-no-user-config', '-display', 'none', '-machine', 'q35'],
    ...[...acceleration(), '-smp', String(CORES), '-m', String(MEMORY_MB)],
    ...['-kernel', image.kernel, '-initrd', image.initrd, '-append', 'root=/dev/vda rw rootflags=usrquota console=ttyS0 quiet'],
    ...['-drive', `file=${image.disk},if=virtio,format=raw,snapshot=on`],
    ...['-drive', `file=${secondDisk},if=virtio,format=raw,readonly=on`],
    ...['-netdev', 'user,id=net,restrict=on', '-device', 'virtio-net-pci,netdev=net'],
    ...['-serial', `file:${consolePath}`],
    ...['-chardev', `socket,id=commands,path=${socketPath},server=on,wait=off`, '-device', 'virtio-serial'],
    ...['-device', `virtserialport,chardev=commands,name=${COMMAND_PORT}`],
  ]
}

/**
 * The processor's own virtualization where it is there; else all of it is emulated. A /dev/kvm alone says nothing: under some hypervisors
 * it runs kernels of their own kind only.
 */
function acceleration(): string[] {
  const isVirtualizing = /^flags\s*:.*\b(vmx|svm)\b/m.test(readFileSync('/proc/cpuinfo', 'utf8'))
  return isVirtualizing && existsSync('/dev/kvm') ? ['-accel', 'kvm', '-cpu', 'host'] : ['-accel', 'tcg,thread=multi', '-cpu', 'max']
}

interface CommandLine {
  send(line: string): void
  /** The next line that matches; others are passed over. */
  next(form: RegExp, timeoutMs: number): Promise<string>
  close(): void
}

async function openCommandLine(path: string, requireAlive: () => boolean): Promise<CommandLine> {
  const socket = await until('qemu listens', () => requireAlive() && tryConnect(path))
  const lines: string[] = []
  let rest = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  })
  return {
    send: (line) => void socket.write(`${line}\n`),
    next: (form, timeoutMs) => until(`the guest says ${form}`, () => requireAlive() && nextOf(lines, form), timeoutMs),
    close: () => socket.destroy(),
  }
}

function nextOf(lines: string[], form: RegExp): string | undefined {
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) if (form.test(line)) return line
  return undefined
}

function tryConnect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('error', () => resolve(undefined))
    socket.once('connect', () => resolve(socket))
  })
}
