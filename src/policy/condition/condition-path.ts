// The member of the answer that a node of a condition names: `risk_score`, `network.asn`.

import type { ASTNode } from '@marcbachmann/cel-js'

export function memberPath(node: ASTNode): string | undefined {
  if (node.op === 'id') return node.args
  if (node.op !== '.') return undefined
  const [object, member] = node.args
  return object.op === 'id' ? `${object.args}.${member}` : undefined
}
