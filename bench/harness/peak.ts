// Preloaded (`node --import`) into a program whose peak memory is measured: when it ends, it writes
// its largest resident size, in bytes, to the file that BENCH_PEAK names, and its CPU time, in
// seconds, to the one that BENCH_CPU names.

import { writeFileSync } from 'node:fs'
import process from 'node:process'

const file = process.env['BENCH_PEAK']
const cpuFile = process.env['BENCH_CPU']
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  if (file !== undefined) writeFileSync(file, String(maxRSS * 1024))
  if (cpuFile !== undefined) writeFileSync(cpuFile, String((userCPUTime + systemCPUTime) / 1e6))
})
