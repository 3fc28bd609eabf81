// The program's address in a page, elsewhere its path. The types of its package are those of its functions.
declare module 'chardetng-wasm/dist/chardetng_wasm_bg.wasm' {
  const address: string
  // biome-ignore lint/style/noDefaultExport: Bun exports files as the default.
  export default address
}
