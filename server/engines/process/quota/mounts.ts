export interface Mount {
  mountPoint: string
  type: string
  source: string
}

const MOUNT_POINT_COLUMN = 4

/** The file system a path is on, out of the text of /proc/self/mountinfo (see proc_pid_mountinfo(5)); undefined when it tells of none. */
export function mountOf(mountinfo: string, path: string): Mount | undefined {
  const mounts = mountinfo.split('\n').flatMap((line) => mountIn(line) ?? [])
  // The last of several mounts at one point covers the others.
  return mounts
    .filter(({ mountPoint }) => isWithin(path, mountPoint))
    .toSorted((a, b) => a.mountPoint.length - b.mountPoint.length)
    .at(-1)
}

function mountIn(line: string): Mount | undefined {
  const [left = '', right = ''] = line.split(' - ')
  const mountPoint = left.split(' ')[MOUNT_POINT_COLUMN]
  const [type, source] = right.split(' ')
  return mountPoint === undefined || type === undefined || source === undefined
    ? undefined
    : { mountPoint: unescaped(mountPoint), type, source }
}

const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
