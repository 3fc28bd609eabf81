// A migration, imported as text.
declare module '*.sql' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: Bun exports text files as the default.
  export default text
}
