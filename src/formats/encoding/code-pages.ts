// Code pages of DOS, which no `TextDecoder` knows: the characters of their bytes from 0x80 on.

const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0'
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0'
const CP852 =
  'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\xad˝˛ˇ˘§÷¸°¨˙űŘř■\xa0'

const CODE_PAGES: Readonly<Record<string, string>> = { 437: CP437, 850: CP850, 852: CP852 }

/** Decodes the parts of a text. */
export type Decoder = {
  decode(part: Uint8Array, options?: { readonly stream?: boolean }): string
}

/** The decoder of a code page; null if it is none of these. */
export function createPageDecoder(encoding: string): Decoder | null {
  const [, number = ''] = /^(?:cp|ibm)(\d+)$/.exec(encoding.trim().toLowerCase()) ?? []
  const upper = CODE_PAGES[number]
  if (upper === undefined) return null
  const characters = String.fromCharCode(...Array(128).keys()) + upper
  return { decode: (part) => Array.from(part, (byte) => characters[byte]).join('') }
}
