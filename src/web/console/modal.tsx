import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

type ModalProps = {
  readonly label: string
  /** What Escape does; nothing where it is left out. */
  readonly onEscape?: () => void
  readonly children: ComponentChildren
}

/** A dialog that is open as long as it is drawn; the newest one is on top. */
export function Modal({ label, onEscape, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // Closed before it is gone: so the browser gives the focus back to where it was.
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault()
        onEscape?.()
      }}
    >
      {children}
    </dialog>
  )
}
