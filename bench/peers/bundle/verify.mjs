// Proofs a second with the SDK: read the bytes, find the root, compare it.
import { readFileSync } from 'node:fs'
import { MerklePath } from '@bsv/sdk'

const { proofs, seconds } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const bytes = proofs.map(({ bump, txid, root }) => ({ bump: [...Buffer.from(bump, 'hex')], txid, root }))

const run = (length) => {
  const began = performance.now()
  let count = 0
  while (performance.now() < began + length * 1000) {
    for (const { bump, txid, root } of bytes) {
      if (MerklePath.fromBinary(bump).computeRoot(txid) !== root) throw new Error(`another root: ${txid}`)
      count += 1
    }
  }
  return count / ((performance.now() - began) / 1000)
}

// Until it is compiled.
run(1)
console.log(run(seconds))
