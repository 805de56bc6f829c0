// A child process of kill.process.test.ts: imports FOLDER into STORE, one line of output a file.

import { join } from 'node:path'
import { loadCatalogue } from '../../build/catalogue/load.ts'
import { importFolder } from '../../build/history/import.ts'
import { packageRoot } from '../../src/base/root.ts'

const [folder = '', store = ''] = process.argv.slice(2)
process.stdout.write('begin\n')
await importFolder(folder, {
  store,
  feeds: loadCatalogue(join(packageRoot, 'data', 'feeds')),
  onFile: (file) => process.stdout.write(`${file.feed} ${file.day}\n`),
})
