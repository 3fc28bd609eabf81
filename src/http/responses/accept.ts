// Negotiates the form of a response (RFC 9110, section 12.5).

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/**
 * The offer with the highest weight in an `Accept` or an `Accept-Encoding`, the first of equals; undefined if none is
 * named, as `*` or by its name. A malformed weight is none.
 */
export function choose<Offer extends string>(
  header: string | null | undefined,
  offers: readonly Offer[],
): Offer | undefined {
  const weights = new Map(
    header?.split(',').map((element) => {
      const [name = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.find((part) => /^q(=|$)/.test(part)) ?? 'q=1'
      return [name, Number(WEIGHT.exec(weight)?.[1] ?? 0)]
    }),
  )
  const weightOf = (offer: Offer) => weights.get(offer) ?? weights.get('*') ?? 0
  const accepted = offers.filter((offer) => weightOf(offer) > 0)
  return accepted.toSorted((a, b) => weightOf(b) - weightOf(a))[0]
}
