// What a condition says that holds for no answer, or for all of them.

import type { ASTNode } from '@marcbachmann/cel-js'
import { suggestName } from '../config/setting-problem.ts'
import { listReasonTexts, reasonCodes } from '../score/points/reason-codes.ts'
import type { Refusal } from './condition-refusal.ts'

const codes: readonly string[] = [...reasonCodes, ...Object.keys(listReasonTexts)]

export function findWarnings(node: ASTNode): readonly Refusal[] {
  if (node.op === '&&' || node.op === '||') {
    return (node.args as readonly ASTNode[]).flatMap(findWarnings)
  }
  if (node.op !== 'in') return []
  const [code, { op, args }] = node.args as readonly [ASTNode, ASTNode]
  if (op !== 'id' || args !== 'reasons' || typeof code.args !== 'string') return []
  if (codes.includes(code.args)) return []
  const message = `reasons never has ${JSON.stringify(code.args)}${suggestName(code.args, codes)}`
  return [{ message, at: code.start }]
}
