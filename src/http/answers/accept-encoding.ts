// Negotiates the content coding of an answer (RFC 9110, section 12.5.3).

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** The weights of codings, or of media types, in a header; 0 for an unwanted one, or a malformed weight. */
export function readWeights(header: string): ReadonlyMap<string, number> {
  const weights = header.split(',').map((element): [string, number] => {
    const [coding = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((part) => /^q(=|$)/.test(part)) ?? 'q=1'
    return [coding, Number(WEIGHT.exec(weight)?.[1] ?? 0)]
  })
  return new Map(weights)
}

/** The offered coding with the highest weight in an `Accept-Encoding`, the first of equals; else `identity`. */
export function chooseCoding<Coding extends string>(
  header: string | null,
  codings: readonly Coding[],
): Coding | 'identity' {
  if (header === null) return 'identity'
  const weights = readWeights(header)
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const [best] = codings.toSorted((a, b) => weightOf(b) - weightOf(a))
  const weight = best === undefined ? 0 : weightOf(best)
  return best && weight > 0 && weight >= (weights.get('identity') ?? 0) ? best : 'identity'
}
