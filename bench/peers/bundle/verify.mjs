// Proofs a second with the SDK: read the bytes, find the root, compare it.
import { readFileSync } from 'node:fs'
import { MerklePath } from '@bsv/sdk'

const { proofs, seconds } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const run = (until) => {
  let count = 0
  while (performance.now() < until) {
    for (const { bump, txid, root } of proofs) {
      if (MerklePath.fromHex(bump).computeRoot(txid) !== root) throw new Error(`another root: ${txid}`)
      count += 1
    }
  }
  return count
}
run(performance.now() + 500)
const began = performance.now()
const count = run(began + seconds * 1000)
console.log(count / ((performance.now() - began) / 1000))
