// Preloaded (`node --import`) into a program whose peak memory is measured: when it ends, it writes
// its largest resident size, in bytes, to the file that BENCH_PEAK names.

import { writeFileSync } from 'node:fs'
import process from 'node:process'

const file = process.env['BENCH_PEAK']
process.on('exit', () => {
  if (file !== undefined) writeFileSync(file, String(process.resourceUsage().maxRSS * 1024))
})
