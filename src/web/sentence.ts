/** A message as people read it: with a capital letter, and the id as `ID`. */
export const sentenceOf = (message: string): string =>
  message.replace(/^id(?![\p{L}\d_])/u, 'ID').replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())
