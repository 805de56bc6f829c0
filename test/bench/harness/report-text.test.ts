// A report for a terminal, as every benchmark without a section of its own prints it.

import { expect, it } from 'vitest'
import { reportText } from '../../../bench/harness/program.ts'
import { runHead } from '../../../bench/harness/run.ts'

it('has a line for each figure and a table for each list', () => {
  const head = runHead(['--smoke'])
  const rows = [
    { name: 'a', ms: 1.23456, equal: true },
    { name: 'bcd', ms: 1200, equal: false },
  ]
  const report = { ...head, kind: 'x', entries: 10, table: { id: 'one' }, rows, none: [] }
  const { cpu, cores, node } = head.machine
  expect(reportText(report).split('\n')).toEqual([
    `${cpu}, ${cores} cores, Node ${node}`,
    'entries: 10',
    'table: {"id":"one"}',
    '',
    'rows:',
    'name     ms  equal',
    'a     1.235   true',
    'bcd    1200  false',
  ])
})
