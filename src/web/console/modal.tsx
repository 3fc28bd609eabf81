import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

type ModalProps = {
  readonly label: string
  /** What Escape does; by default nothing. */
  readonly onEscape?: () => void
  readonly children: ComponentChildren
}

/** A dialog that is open while it is rendered; the newest is on top. */
export function Modal({ label, onEscape, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // Closing it before it is removed lets the browser restore the focus.
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      onKeyDown={(event) => {
        // Browsers close a dialog at the second Escape, whatever `cancel` says.
        if (event.key !== 'Escape') return
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
