// A code block with coloured JSON and a copy button.
import { CopyButton } from '../console/controls/copy-button.tsx'
import { indent, type Token } from './json-text'

type ColouredProps = {
  readonly text: string
  readonly tokens: Token[] | null
  readonly scrolls: boolean
}

/** Coloured JSON with its digits unchanged; any other text unchanged, without line wrap if it scrolls. */
function Coloured({ text, tokens, scrolls }: ColouredProps) {
  if (!tokens) return <pre class={scrolls ? 'text lines' : 'text'}>{text}</pre>
  return (
    <pre class="text">
      {tokens.map(({ kind, text: part }, at) =>
        kind === 'mark' ? (
          part
        ) : (
          <span key={at} class={kind}>
            {part}
          </span>
        ),
      )}
    </pre>
  )
}

type Props = {
  readonly text: string
  readonly label: string
  /** True if a long text scrolls in its own box. */
  readonly scrolls?: boolean
}

export function Code({ text, label, scrolls = false }: Props) {
  const tokens = indent(text)
  const visibleText = tokens ? tokens.map((token) => token.text).join('') : text
  const coloured = <Coloured text={text} tokens={tokens} scrolls={scrolls} />
  return (
    <div class="code">
      {scrolls ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach scrollable content.
        <section class="scroll" aria-label={label} tabIndex={0}>
          {coloured}
        </section>
      ) : (
        coloured
      )}
      <CopyButton class="copy" label="Copy" text={visibleText} aria-label={`Copy: ${label}`} />
    </div>
  )
}
