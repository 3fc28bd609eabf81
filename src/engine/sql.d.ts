// A migration, imported as text.
declare module '*.sql' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: Bun exports a text so.
  export default text
}
