// Reads proofs with the SDK, and makes some of its own.
import { readFileSync, writeFileSync } from 'node:fs'
import { Beef, Hash, MerklePath, Transaction, LockingScript, UnlockingScript, Utils } from '@bsv/sdk'

const [given, answer] = process.argv.slice(2)
const { bumps, trees } = JSON.parse(readFileSync(given, 'utf8'))

const read = bumps.map(({ bump, txid }) => {
  const path = MerklePath.fromHex(bump)
  return { root: path.computeRoot(txid), bytes: path.toHex() }
})

const hash = (hex) => Utils.toArray(hex, 'hex').reverse()
const pair = (left, right) => Utils.toHex(Hash.hash256([...hash(left), ...hash(right)]).reverse())

// A path from the last of so many transactions, as the SDK writes it.
function prove (tx, size, height) {
  const txid = tx.id('hex')
  let level = Array.from({ length: size - 1 }, (_, n) => n.toString(16).padStart(64, '0'))
  level.push(txid)
  const path = []
  let offset = size - 1
  do {
    const own = { offset, hash: level[offset] }
    if (path.length === 0) own.txid = true
    const at = offset ^ 1
    const other = at < level.length ? { offset: at, hash: level[at] } : { offset: at, duplicate: true }
    const leaves = size === 1 ? [own] : path.length === 0 ? [own, other] : [other]
    path.push(leaves.sort((a, b) => a.offset - b.offset))
    const next = []
    for (let n = 0; n < level.length; n += 2) next.push(pair(level[n], level[n + 1] ?? level[n]))
    if (size === 1) break
    level = next
    offset >>= 1
  } while (level.length > 1)
  return new MerklePath(height, path)
}

const made = trees.map((size) => {
  const input = {
    sourceTXID: '00'.repeat(31) + '07',
    sourceOutputIndex: 0,
    unlockingScript: UnlockingScript.fromASM('OP_TRUE'),
    sequence: 0xffffffff
  }
  const output = { satoshis: 1, lockingScript: LockingScript.fromASM(`OP_FALSE OP_RETURN ${'ab'.repeat(32)}`) }
  const tx = new Transaction(1, [input], [output], size)
  tx.merklePath = prove(tx, size, 800000 + size)
  const beef = new Beef()
  beef.mergeTransaction(tx)
  const txid = tx.id('hex')
  return { txid, beef: beef.toHex(), root: tx.merklePath.computeRoot(txid) }
})

writeFileSync(answer, JSON.stringify({ bumps: read, made }))
