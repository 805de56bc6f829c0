// The lines by which deploy/README.md sets up the service's user and makes a key, as they stand there,
// in a mount namespace with a /etc, /opt and /var/lib of its own. systemd itself does not run here.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

const overlaid = `
  set -e
  mount --make-rprivate /
  mount -t tmpfs none /mnt
  for at in etc opt usr/local/bin var/lib; do
    mkdir -p /mnt/up/$at /mnt/work/$at
    mount -t overlay none -o lowerdir=/$at,upperdir=/mnt/up/$at,workdir=/mnt/work/$at /$at
  done
  mkdir -p /opt/iprisk
  mount --bind "$0" /opt/iprisk`

const run = (script: string) =>
  spawnSync('unshare', ['-m', 'sh', '-c', `${overlaid}\n${script}`, packageRoot], {
    encoding: 'utf8',
  })
const allowed = process.getuid?.() === 0 && run('').status === 0

const readme = readFileSync(join(packageRoot, 'deploy/README.md'), 'utf8')
const lines = /^\*\*systemd\.\*\*.*\n\n```sh\n([^`]+)```/m.exec(readme)?.[1] ?? ''

describe.runIf(allowed || process.env['CI'] !== undefined)('the lines for systemd', () => {
  it('make a key, as the user of the unit, in the places of the unit', () => {
    const { status, stdout, stderr } = run(
      `${lines}\nfind /var/lib/iprisk '(' -perm /077 -o ! -user iprisk ')' -print`,
    )
    expect([status, stderr]).toEqual([0, 'iprisk: settings from /etc/iprisk/iprisk.json\n'])
    expect(stdout).toMatch(/^irk_\S+\n[^]*only its hash is stored\.\n$/)
  })
})
