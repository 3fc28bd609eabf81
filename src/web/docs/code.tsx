// A code block with coloured JSON and a copy button.
import { useSignal } from '@preact/signals'
import { indent, type Token } from './json-text'

type CopyProps = { readonly text: string; readonly label: string }

// Over plain HTTP, browsers allow the clipboard only on localhost.
function Copy({ text, label }: CopyProps) {
  const status = useSignal('Copy')
  if (!navigator.clipboard) return null
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        status.value = 'Copied'
        setTimeout(() => {
          status.value = 'Copy'
        }, 1500)
      },
      () => {
        status.value = 'Cannot copy'
      },
    )
  return (
    <button type="button" class="copy" aria-label={`Copy: ${label}`} onClick={copy}>
      {status}
    </button>
  )
}

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
      <Copy text={visibleText} label={label} />
    </div>
  )
}
