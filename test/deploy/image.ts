// The image that serves, built from deploy/docker/Dockerfile by buildah, in a chroot: no registry
// can be reached here, so it stands on a base that is made from Debian's packages (debootstrap)
// with the recommended Node, which `node:…-bookworm-slim` is as well. Run by crun, as Docker and
// Kubernetes run it: read-only, as its own user, without a capability. All of it lies in one folder
// and goes with it.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/base/package-root.ts'

const base = 'localhost/iprisk-test-node:base'
const image = 'localhost/iprisk:test'

export interface Image {
  /** The image's own file system, of which each container has a copy on write. */
  readonly rootfs: string
  /** As `buildah inspect` has it. */
  readonly config: {
    readonly User: string
    readonly Env: readonly string[]
    readonly Entrypoint: readonly string[]
    readonly Cmd: readonly string[]
    readonly WorkingDir: string
    readonly StopSignal: string
  }
  readonly remove: () => void
}

/** `node`: the binary that the base gets. */
export function buildImage(folder: string, node: string): Image {
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')]
  const buildah = (...args: readonly string[]): string =>
    execFileSync('buildah', [...storage, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 28,
    }).trim()
  makeBase(folder, node, buildah)
  const isolated = ['--isolation', 'chroot', '--pull-never', '--network', 'host']
  const file = join(packageRoot, 'deploy/docker/Dockerfile')
  const args = ['--build-arg', `NODE_IMAGE=${base}`, '--target', 'serve', '-t', image]
  buildah('build', ...isolated, '-f', file, ...args, packageRoot)
  const container = buildah('from', '--pull-never', image)
  const rootfs = buildah('mount', container)
  const inspected = JSON.parse(buildah('inspect', '--type', 'image', image)) as {
    readonly OCIv1: { readonly config: Image['config'] }
  }
  const remove = (): void => {
    buildah('umount', container)
    buildah('rm', container)
    buildah('rmi', '--all', '--force')
  }
  return { rootfs, config: inspected.OCIv1.config, remove }
}

function makeBase(
  folder: string,
  node: string,
  buildah: (...args: readonly string[]) => string,
): void {
  const root = join(folder, 'base')
  const debian = ['--variant=minbase', '--include=ca-certificates', 'bookworm', root]
  execFileSync('debootstrap', debian, { stdio: 'pipe', maxBuffer: 1 << 26 })
  const npm = execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim()
  mkdirSync(join(root, 'usr/local/lib/node_modules'), { recursive: true })
  cpSync(node, join(root, 'usr/local/bin/node'))
  cpSync(join(npm, 'npm'), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true })
  // What this machine trusts, so that its registry is reached from inside.
  const trusted = 'etc/ssl/certs/ca-certificates.crt'
  cpSync(join('/', trusted), join(root, trusted))
  writeFileSync(join(root, 'usr/local/etc/npmrc'), `cafile = /${trusted}\n`)
  const container = buildah('from', 'scratch')
  buildah('add', '--quiet', container, root, '/')
  const links = ['npm', 'npx'].map(
    (name) => `ln -s ../lib/node_modules/npm/bin/${name}-cli.js /usr/local/bin/${name}`,
  )
  buildah('run', '--isolation', 'chroot', container, 'sh', '-c', links.join(' && '))
  buildah(
    'config',
    '--env',
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    container,
  )
  buildah('commit', '--quiet', container, base)
  buildah('rm', container)
}

export interface Container {
  readonly process: ChildProcess
  readonly said: () => string
  /** Runs another command in it; gives its standard output. */
  readonly exec: (command: readonly string[]) => string
  readonly signal: (name: string) => void
}

/** crun knows the second version of cgroups alone; it sees no other, in a namespace of its own. */
const oneHierarchy = `
  umount -R -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec "$0" "$@"`

/** Runs the image's own command, with these folders on /var/lib/iprisk and as a secret. */
export function runImage(
  { rootfs, config }: Image,
  options: {
    readonly folder: string
    readonly name: string
    readonly data: string
    readonly env: Readonly<Record<string, string>>
    readonly command?: readonly string[]
  },
): Container {
  const { folder, name, data, env, command = config.Cmd } = options
  const bundle = join(folder, name)
  mkdirSync(bundle)
  const [uid = 0, gid = 0] = config.User.split(':').map(Number)
  const noCapability = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }
  const added = Object.entries(env).map(([variable, value]) => `${variable}=${value}`)
  const nothing = ['nosuid', 'noexec', 'nodev']
  const spec = {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid, gid },
      args: [...config.Entrypoint, ...command],
      env: [...config.Env, ...added],
      cwd: config.WorkingDir,
      capabilities: noCapability,
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    hostname: name,
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: [...nothing, 'mode=1777'] },
      { destination: '/var/lib/iprisk', type: 'bind', source: data, options: ['rbind', 'rw'] },
    ],
    linux: { namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })) },
  }
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
  const state = ['--root', join(folder, 'containers'), '--cgroup-manager', 'disabled']
  const crun = (...args: readonly string[]): readonly string[] => {
    return ['-m', 'sh', '-c', oneHierarchy, 'crun', ...state, ...args]
  }
  const child = spawn('unshare', crun('run', '--bundle', bundle, name), {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  }
  return {
    process: child,
    said: () => said,
    exec: (asked) =>
      execFileSync(
        'unshare',
        crun('exec', '--user', config.User, '--no-new-privs', name, ...asked),
        { encoding: 'utf8', stdio: 'pipe' },
      ),
    signal: (signal) => void execFileSync('unshare', crun('kill', name, signal)),
  }
}
