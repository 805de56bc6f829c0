// What `iprisk replay --sampled` reads: the checks that the server of a state folder and port has
// sampled, and its own copy of the table that answers, since a new table may have taken the place
// of the operator's file already. Without a running server: what it wrote last, and no table.

import type { Settings } from '../../config/settings.ts'
import {
  type SampledPlaces,
  controlSocketPath,
  sendControlRequest,
} from '../../supervisor/sockets/control-socket.ts'
import { readSample, sampleFilePath } from '../../observe/sample-file.ts'
import type { SampledCheck } from '../../observe/sampled-check.ts'
import { usageError } from './policy-test-command.ts'

export interface SampledTraffic {
  readonly checks: readonly SampledCheck[]
  /** The copy of the table that answers. */
  readonly table?: string
  /** The own lists that it answers with. */
  readonly lists?: SampledPlaces['lists']
}

/** Throws `usage` where nothing was sampled. */
export async function readSampledTraffic(
  state: string,
  { port }: Pick<Settings['serve'], 'port'>,
): Promise<SampledTraffic> {
  const reply = await sendControlRequest(controlSocketPath(state, port), 'sample')
  if (reply?.ok === false) throw usageError(reply.text)
  const own: SampledPlaces = { sample: sampleFilePath(state, port) }
  const { sample, ...more } = reply === undefined ? own : (JSON.parse(reply.text) as SampledPlaces)
  const checks = readSample(sample)
  if (checks.length > 0) return { checks, ...more }
  throw usageError(
    `The server on port ${port} with the state folder ${state} has sampled nothing; it does with ` +
      '"iprisk serve --sample 100000".',
  )
}
