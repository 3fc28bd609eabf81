// Shell scripts are imported as text.

declare module '*.bash' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: Bun exports text files as the default.
  export default text
}
declare module '*.zsh' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: Bun exports text files as the default.
  export default text
}
declare module '*.fish' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: Bun exports text files as the default.
  export default text
}
