/// <reference path="./wasm.d.ts" />
// Firefox's detector of encodings (https://github.com/hsivonen/chardetng), as WebAssembly. Loaded only for a text that is not
// UTF-8.

import program from 'chardetng-wasm/dist/chardetng_wasm_bg.wasm' with { type: 'file' }

type Exports = {
  readonly memory: WebAssembly.Memory
  readonly __wbindgen_malloc: (length: number) => number
  readonly __wbindgen_add_to_stack_pointer: (change: number) => number
  /** Writes the address and the length of the name. */
  readonly detect: (result: number, bytes: number, length: number) => void
}

/** Loads the program from its address in a page, or from its path. */
export type Loader = (address: string) => Promise<ArrayBuffer>

const RESULT_BYTES = 16

/** The encoding that some bytes are most probably in, by the languages of the web. */
export async function guessEncoding(bytes: Uint8Array, load: Loader): Promise<string> {
  const { instance } = await WebAssembly.instantiate(await load(program), {
    './chardetng_wasm_bg.js': {
      __wbindgen_throw() {
        throw new Error('the detector of encodings failed')
      },
    },
  })
  const wasm = instance.exports as Exports
  const start = wasm.__wbindgen_malloc(bytes.length)
  new Uint8Array(wasm.memory.buffer).set(bytes, start)
  const result = wasm.__wbindgen_add_to_stack_pointer(-RESULT_BYTES)
  wasm.detect(result, start, bytes.length)
  const [address = 0, length = 0] = new Uint32Array(wasm.memory.buffer, result, 2)
  return new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, address, length))
}
