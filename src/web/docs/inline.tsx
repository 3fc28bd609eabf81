// Text of the description, with backticks as code.

type Props = { readonly text: string }

export const Inline = ({ text }: Props) => (
  <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
)
