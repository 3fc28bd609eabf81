import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

type Props = { readonly label: ComponentChildren; readonly children: ComponentChildren }

const ID = 'menu'

/** Hides the menu when it is pressed, as an attribute of the button. */
export const hidesMenu = { popovertarget: ID, popovertargetaction: 'hide' } as const

/** A button that shows others below itself; Escape and a press elsewhere hide them. There is one a page. */
export function Menu({ label, children }: Props) {
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      <button ref={button} type="button" popovertarget={ID}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      <div
        id={ID}
        class="menu"
        popover="auto"
        onBeforeToggle={({ currentTarget: { style } }) => {
          const { bottom, right } = button.current?.getBoundingClientRect() ?? new DOMRect()
          style.setProperty('--top', `${bottom}px`)
          style.setProperty('--right', `${document.documentElement.clientWidth - right}px`)
        }}
      >
        {children}
      </div>
    </>
  )
}
