import type { Signal } from '@preact/signals'
import { Check } from './controls/check.tsx'
import { Modal } from './controls/modal.tsx'

const READ_SHORTCUTS = [
  ['/', 'Search'],
  ['↑,↓,Page Up,Page Down,Home,End', 'Move in the table'],
  ['Enter', 'Open the plant'],
  ['Escape', 'Close'],
  ['r', 'Show recent changes, if they are recorded'],
  ['?', 'Show these shortcuts'],
] as const
const WRITE_SHORTCUTS = [
  ['n', 'Add a plant'],
  ['F2', 'Edit the plant'],
  ['←,→', 'Choose a cell of the plant; with Shift a range'],
  ['Home,End', 'Go to the first or last cell of the plant; with Ctrl, of the table'],
  ['Enter,Double click', 'Edit the cell in place; letters replace its text'],
  ['Ctrl+C,Ctrl+V', 'Copy and paste cells; copy ticked plants'],
  ['Tab,Shift+Tab', 'Save the cell, edit the next or previous one'],
  ['Space', 'Select the plant'],
  ['Delete', 'Delete the plant; in a tag, empty it'],
  ['Ctrl+A', 'Select all plants'],
  ['Ctrl+Z,Ctrl+Shift+Z', 'Undo, redo'],
] as const

type Props = {
  readonly isReadOnly: boolean
  readonly hasLetters: Signal<boolean>
  readonly onClose: () => void
}

/** The keys of the page. */
export const Shortcuts = ({ isReadOnly, hasLetters, onClose }: Props) => (
  <Modal label="Keyboard shortcuts" onEscape={onClose}>
    <h2 tabIndex={-1}>Keyboard shortcuts</h2>
    <dl class="shortcuts">
      {[...READ_SHORTCUTS, ...(isReadOnly ? [] : WRITE_SHORTCUTS)].map(([key, what]) => (
        <div key={key}>
          <dt>
            {key.split(',').map((one) => (
              <kbd key={one}>{one}</kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
    <Check label="Single letters outside of cells are shortcuts" isChecked={hasLetters} />
    <div class="actions">
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  </Modal>
)
