// The method of an operation, in its colour.

type Props = { readonly name: string }

export const Method = ({ name }: Props) => (
  <span class={`method method-${name.toLowerCase()}`}>{name}</span>
)
