import { useSignal } from '@preact/signals'
import type { HTMLAttributes } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

type Props = Pick<HTMLAttributes, 'tabIndex' | 'dir' | 'children'> & {
  readonly as: 'h2' | 'p'
}

/** A text cut to a few lines, with a button that shows the rest. */
export function Clamped({ as: Element, ...attributes }: Props) {
  const box = useRef<HTMLHeadingElement & HTMLParagraphElement>(null)
  const isCut = useSignal(false)
  const isWhole = useSignal(false)
  useLayoutEffect(() => {
    const sizes = new ResizeObserver(([entry]) => {
      if (!entry || isWhole.value) return
      const { scrollHeight, clientHeight } = entry.target
      // A line may be a pixel higher than its share.
      isCut.value = scrollHeight > clientHeight + 1
    })
    if (box.current) sizes.observe(box.current)
    return () => sizes.disconnect()
  }, [])
  return (
    <>
      <Element {...attributes} ref={box} class={isWhole.value ? undefined : 'clamped'} />
      {isCut.value ? (
        <button
          type="button"
          class="quiet inline rest"
          aria-expanded={isWhole.value}
          onClick={() => {
            isWhole.value = !isWhole.value
          }}
        >
          {isWhole.value ? 'Show less' : 'Show all of it'}
        </button>
      ) : null}
    </>
  )
}
