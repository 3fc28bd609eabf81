import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { fieldInUse, placeCaret } from './focus.ts'

// The same width as in screens.css.
const PHONE = '(width < 46rem)'

/** True if the page is as narrow as a phone, where a panel fills it. */
export const isPhone = (): boolean => matchMedia(PHONE).matches

/** True while a menu is shown, which Escape hides before anything else. */
export const hasMenu = (): boolean => document.querySelector(':popover-open') !== null

type DialogProps = {
  readonly label: string
  /** Called at Escape. */
  readonly onEscape?: () => void
  readonly children: ComponentChildren
}

/** A dialog that is open while it is rendered; the newest is on top. */
export const Modal = (props: DialogProps) => <Dialog {...props} isBeside={false} />

/** A dialog beside the page, which stays in use; on a phone it fills the page. */
export const SidePanel = (props: DialogProps) => <Dialog {...props} isBeside />

function Dialog({ label, onEscape, children, isBeside }: DialogProps & { isBeside: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const phone = matchMedia(PHONE)
    function show(): void {
      dialog.current?.close()
      const typedField = fieldInUse(dialog.current)
      if (!isBeside || phone.matches) {
        dialog.current?.showModal()
        // A screen reader announces the dialog, and reads from its heading on.
        if (dialog.current?.querySelector('h2[tabindex]')) dialog.current.focus()
      } else {
        dialog.current?.show()
        typedField?.focus({ preventScroll: true })
      }
    }
    show()
    phone.addEventListener('change', show)
    const element = dialog.current
    return () => {
      phone.removeEventListener('change', show)
      // Closed before it is removed, so that the browser restores the focus.
      const before = document.activeElement
      element?.close()
      // Chromium restores the focus of a text field without a caret: nothing could be typed.
      if (document.activeElement !== before) placeCaret(document.activeElement)
    }
  }, [isBeside])
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      class={isBeside ? 'side' : undefined}
      aria-label={label}
      onKeyDown={(event) => {
        // At a second Escape, browsers close a dialog even if `cancel` is prevented; a menu in it closes alone.
        if (event.key !== 'Escape' || hasMenu()) return
        event.preventDefault()
        onEscape?.()
      }}
      onCancel={(event) => {
        event.preventDefault()
        onEscape?.()
      }}
    >
      {children}
    </dialog>
  )
}
