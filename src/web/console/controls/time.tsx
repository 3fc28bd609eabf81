/** A time to the minute. */
export const timeOf = (at: Date): string =>
  at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export const Time = ({ at }: { readonly at: Date }) => (
  <time dateTime={at.toISOString()} title={at.toLocaleString()}>
    {timeOf(at)}
  </time>
)
