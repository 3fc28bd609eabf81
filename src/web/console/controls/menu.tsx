import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

type Props = {
  readonly id: string
  readonly label: ComponentChildren
  readonly children: ComponentChildren
  /** Called when it is shown or hidden. */
  readonly onToggle?: (isShown: boolean) => void
}

/** The attributes of a button that hides a menu. */
export const hideAttributes = (id: string) =>
  ({ popovertarget: id, popovertargetaction: 'hide' }) as const

/** A button that shows a menu below itself; Escape, or a press elsewhere, hides it. */
export function Menu({ id, label, children, onToggle }: Props) {
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      <button ref={button} type="button" popovertarget={id}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      <div
        id={id}
        class="menu"
        popover="auto"
        onBeforeToggle={({ currentTarget: { style } }) => {
          const { bottom, left, right } = button.current?.getBoundingClientRect() ?? new DOMRect()
          const { clientWidth } = document.documentElement
          const isLeft = left + right < clientWidth
          style.setProperty('--top', `${bottom}px`)
          style.setProperty('--left', isLeft ? `${left}px` : 'auto')
          style.setProperty('--right', isLeft ? 'auto' : `${clientWidth - right}px`)
        }}
        onToggle={({ newState }) => onToggle?.(newState === 'open')}
      >
        {children}
      </div>
    </>
  )
}
