// A chosen or dropped file; `onText` gets at most `bytesMax` of it.

import { useId, useState } from 'preact/hooks'
import { decodeText, packingMagics } from '../../../base/text/byte-order-mark.ts'
import { notify } from '../ask/notices.ts'

async function packingOf(file: File): Promise<string | undefined> {
  const head = new Uint8Array(await file.slice(0, 8).arrayBuffer())
  const isPacked = (magic: readonly number[]) => magic.every((byte, at) => head[at] === byte)
  const found = Object.entries(packingMagics).find(([, magic]) => isPacked(magic))?.[0]
  return found ?? (file.name.endsWith('.br') ? 'brotli' : undefined)
}

/** Four bytes of zstd may stand for two million. */
const zstdSliceBytes = 128

async function newUnzstd(onPart: (part: Uint8Array) => void) {
  const { Decompress } = await import('fzstd')
  const engine = new Decompress(onPart)
  /** Throws for cut or damaged data. */
  return (packed: Uint8Array | undefined, isEnough: () => boolean): void => {
    if (packed === undefined) engine.push(new Uint8Array(0), true)
    else {
      for (let at = 0; at < packed.length && !isEnough(); at += zstdSliceBytes)
        engine.push(packed.subarray(at, at + zstdSliceBytes))
    }
  }
}

/** Reads UTF-16 that has a mark. Cut or damaged data gives what could be read. */
async function textOf(file: File, packing: string | undefined, bytesMax: number): Promise<string> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const keep = (part: Uint8Array): void => {
    parts.push(Uint8Array.from(part))
    length += part.length
  }
  const isEnough = (): boolean => length >= bytesMax
  const packed = file.stream()
  const stream = packing === 'gzip' ? packed.pipeThrough(new DecompressionStream('gzip')) : packed
  const unzstd = packing === 'zstd' ? await newUnzstd(keep) : undefined
  const reader = stream.getReader()
  try {
    while (!isEnough()) {
      const { value } = await reader.read()
      if (unzstd !== undefined) unzstd(value, isEnough)
      else if (value !== undefined) keep(value)
      if (value === undefined) break
    }
  } catch {
    notify(`${file.name} is cut off or damaged; what could be read is used.`, true)
  }
  const text = new Blob(parts).slice(0, bytesMax)
  return decodeText(new Uint8Array(await text.arrayBuffer()))
}

export function FileDrop(props: {
  readonly label: string
  readonly bytesMax: number
  /** Rejects larger files with this text; without it, only their beginning is read. */
  readonly whenTooLarge?: string
  readonly onText: (text: string) => void
}) {
  const { label, bytesMax, whenTooLarge, onText } = props
  const id = useId()
  const [isOver, setOver] = useState(false)
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    const isTooLarge = file.size > bytesMax
    if (isTooLarge && whenTooLarge !== undefined) {
      return notify(`${file.name} is larger than ${bytesMax / 1e6} MB. ${whenTooLarge}`, true)
    }
    const packing = await packingOf(file)
    if (packing !== undefined && packing !== 'gzip' && packing !== 'zstd') {
      return notify(`${file.name} is compressed with ${packing}: decompress it first.`, true)
    }
    const text = await textOf(file, packing, bytesMax)
    if (isTooLarge) {
      notify(`${file.name}: only its first ${Math.floor(bytesMax / 1e6)} MB are read.`, true)
    }
    // Drops the cut line.
    onText(isTooLarge ? text.slice(0, text.lastIndexOf('\n') + 1) : text)
  }
  return (
    <div
      class={isOver ? 'drop is-over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void take(event.dataTransfer?.files[0])
      }}
    >
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        onChange={({ currentTarget }) => {
          void take(currentTarget.files?.[0])
          currentTarget.value = ''
        }}
      />
    </div>
  )
}
