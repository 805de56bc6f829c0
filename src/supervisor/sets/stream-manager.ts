// Keeps the bouncers' stream (contract 6.2) as table, own lists and policies have it: on a pull, and
// only then, it looks whether any of them has changed since the generation that is served, and lets
// a process make the next one. The pull that finds the change still gets the generation before it.
//
// Invariants: one at a time; a failure leaves the generation before it, is logged once a reason and
// is tried again with a later pull.

import { type BouncerSettings, formOf } from '../../adapters/crowdsec/bouncer-endpoint.ts'
import type { StreamMade, StreamRequest } from '../../adapters/crowdsec/make-stream-main.ts'
import { messageOf } from '../../base/coded-error.ts'
import type { Log } from '../../base/log.ts'
import { createChildTask } from '../../base/system/child-task.ts'
import type { Policies } from '../../model/policy-form.ts'
import { isCurrent } from '../../sets/next-generation.ts'
import { readManifestSync, removeUnused } from '../../sets/set-folder.ts'
import type { ListFile, VerifiedTableFile } from '../../table/served-table.ts'

/** A table of ten million pieces takes twenty seconds where nothing else runs. */
const makeMsMax = 300_000
const idleMs = 60_000

/** As many as contract 6.3 lets a list have; more is a policy that blocks half the Internet. */
const prefixesMax = 1_000_000

const retryMs = 30_000

interface StreamParts {
  readonly stateFolder: string
  readonly settings: BouncerSettings
  readonly table: () => { readonly id: string; readonly file: VerifiedTableFile } | undefined
  /** `tag` of the catalogue, `undefined` until the lists are known. */
  readonly lists: () => { readonly tag: string; readonly file: ListFile | undefined } | undefined
  readonly policies: () => Policies | undefined
  readonly log: Log
}

/** Without a file of policies nothing is blocked. */
const noPolicies: Policies = {
  revision: '',
  policies: { default: { rules: [], otherwise: 'allow' } },
}

export function createStreamManager(parts: StreamParts) {
  const { stateFolder, settings, table, lists, policies, log } = parts
  const task = createChildTask<StreamRequest, StreamMade>({
    program: new URL('../../adapters/crowdsec/make-stream-main.js', import.meta.url),
    hasLowPriority: true,
    msMax: makeMsMax,
    idleMs,
  })
  let making = false
  let isClosed = false
  let failure = ''
  let retryAtMs = 0
  /** Of a set that was too large: the same again would be. */
  let refused = ''

  tidy(stateFolder, log)

  const request = (): StreamRequest | undefined => {
    const answers = table()
    const known = lists()
    if (answers === undefined || known === undefined) return undefined
    const used = policies() ?? noPolicies
    // Damaged lists have no tag.
    const tag = known.tag || String(known.file?.version ?? '')
    const inputs = [answers.id, tag, used.revision].join(' ')
    return {
      ...settings,
      path: answers.file.path,
      lists: known.file,
      policies: used,
      inputs,
      prefixesMax,
    }
  }
  const make = async (asked: StreamRequest): Promise<void> => {
    const outcome = await task.ask(asked)
    if (isClosed) return
    if (outcome.kind !== 'answered') {
      const why =
        outcome.kind === 'failed' ? outcome.error.message : `its process was ${outcome.kind}`
      retryAtMs = performance.now() + retryMs
      const isTooLarge = outcome.kind === 'failed' && outcome.error.code === 'set_too_large'
      refused = isTooLarge ? asked.inputs : ''
      if (why !== failure) log.error({}, `The decisions for bouncers stay as they were: ${why}`)
      failure = why
      return
    }
    failure = ''
    tidy(stateFolder, log)
    const { isNew, manifest } = outcome.answer
    const { generation, prefixes } = manifest
    if (isNew) log.info({ generation, prefixes }, 'The decisions for bouncers have changed.')
  }
  return {
    pulled: (): void => {
      if (making || isClosed || performance.now() < retryAtMs) return
      const asked = request()
      if (asked === undefined || asked.inputs === refused) return
      const { folder, durationMs } = settings
      const wanted = { inputs: asked.inputs, form: formOf(durationMs), nowMs: Date.now() }
      if (isCurrent(folder, readManifestSync(folder), wanted)) return
      making = true
      void make(asked).finally(() => {
        making = false
      })
    },
    close: (): void => {
      isClosed = true
      task.close()
    },
  }
}

function tidy(stateFolder: string, log: Log): void {
  try {
    removeUnused(stateFolder, Date.now())
  } catch (error) {
    log.warn({}, `Sets that no bouncer pulls cannot be removed: ${messageOf(error)}`)
  }
}
