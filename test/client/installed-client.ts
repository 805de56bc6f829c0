// The client as an application finds it that has installed its package.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../src/base/package-root.ts'

/** Below `folder`, as npm would put it there. */
export async function installClient(folder: string): Promise<void> {
  const program = pathToFileURL(join(packageRoot, 'deploy/packages.mjs')).href
  const { writeClientPackage } = (await import(program)) as {
    readonly writeClientPackage: (folder: string) => string
  }
  writeClientPackage(join(folder, 'node_modules/iprisk-client'))
}
