// The settings of a command with these flags, as the command line makes them, without a
// configuration file or variables.

import type { Command } from '../../src/config/options.ts'
import { readSettings, type Settings } from '../../src/config/settings.ts'

export function settingsFor(
  command: Command,
  flags: Readonly<Record<string, unknown>>,
  cwd = '/nowhere',
): Settings {
  return readSettings({ command, flags, environment: {}, cwd })
}
